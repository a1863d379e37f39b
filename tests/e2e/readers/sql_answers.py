"""Asks every question of docs/sql.md: sql_answers.py DOCUMENT FOLDER. Prints, as JSON, each SELECT
with its columns and rows. Runs in the readers' environment."""
import json
import os
import re
import sys

import duckdb

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
os.chdir(sys.argv[2])
answers = []
for question in re.findall(r"```sql\n(.*?)```", text.split("## Events")[0], re.S):
    found = duckdb.sql(question.rstrip().rstrip(";"))
    answers.append({"columns": found.columns, "rows": found.fetchall()})
json.dump(answers, sys.stdout)
