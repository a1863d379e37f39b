"""What readers of Parquet and Arrow find in two folders, as JSON: columns.py PARQUET ARROW. Fails if
pyarrow and DuckDB do not find the same rows in both. Runs in the readers' environment."""
import base64
import json
import os
import sys

import duckdb
import pyarrow
import pyarrow.ipc
import pyarrow.parquet


def plain(value):
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def rows_of(table):
    """Times as whole ns, which Python's own have no room for."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        if pyarrow.types.is_timestamp(column.type):
            column = column.cast(pyarrow.int64())
        columns[name] = [plain(value) for value in column.to_pylist()]
    return columns


def read(parquet, arrow):
    table = pyarrow.parquet.read_table(parquet)
    batches = pyarrow.ipc.open_file(arrow).read_all()
    for one in (table, batches):
        one.validate(full=True)
    rows = rows_of(table)
    assert rows == rows_of(batches), parquet
    assert table.schema.remove_metadata().equals(batches.schema.remove_metadata()), parquet
    found = duckdb.read_parquet(parquet).to_arrow_table()
    assert rows == rows_of(found), parquet
    facts = pyarrow.parquet.read_metadata(parquet)
    return {"types": {field.name: str(field.type) for field in table.schema},
            "groups": facts.num_row_groups,
            "batches": pyarrow.ipc.open_file(arrow).num_record_batches,
            "facts": {key.decode(): value.decode() for key, value in facts.metadata.items()
                      if key.startswith(b"batchlight.")},
            "units": {field.name: (field.metadata or {}).get(b"unit", b"").decode()
                      for field in batches.schema},
            "rows": rows}


parquets, arrows = sys.argv[1:]
names = sorted(name[:-len(".parquet")] for name in os.listdir(parquets))
assert names == sorted(name[:-len(".arrow")] for name in os.listdir(arrows)), names
json.dump({name: read(os.path.join(parquets, name + ".parquet"),
                      os.path.join(arrows, name + ".arrow")) for name in names}, sys.stdout)
