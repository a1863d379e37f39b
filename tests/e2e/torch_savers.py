"""What writes a model to a file is a checkpoint: PyTorch's own and that of other libraries."""
from torch_case import TorchCase


class Savers(TorchCase):
    def test_savers(self):
        session = self.same("""
            import os, tempfile
            path = os.path.join(tempfile.mkdtemp(), "model.pt")
            torch.save(nn.Linear(2, 2).state_dict(), path)
            torch.load(path)
        """)
        names = [record.name for record in session.events("PhaseBegin") if record.phase == 8]
        self.assertEqual(names, ["torch.save", "torch.load"])

    def test_savers_of_other_libraries(self):
        """By the modules that define them: stand-ins, but for PyTorch's own where it has that."""
        session = self.same("""
            import os, tempfile, warnings; warnings.simplefilter("ignore")
            folder = tempfile.mkdtemp()
            def stand_in(path, text):
                path = os.path.join(folder, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                open(os.path.join(os.path.dirname(path), "__init__.py"), "a").close()
                with open(path, "w") as file: file.write(text)
            sys.path.insert(0, folder)
            stand_in("safetensors/torch.py", "def save_file(tensors, path): return len(tensors)")
            stand_in("transformers/modeling_utils.py", '''
            import safetensors.torch
            class PreTrainedModel:
                def save_pretrained(self, path): return safetensors.torch.save_file({"w": 1}, path)
            class Bert(PreTrainedModel): pass
            ''')
            from transformers.modeling_utils import Bert
            print(Bert().save_pretrained("there"))
            try:
                import torch.distributed.checkpoint as saver
            except ImportError:
                import torch.distributed
                torch.distributed.__path__.append(folder)
                stand_in("checkpoint/state_dict_saver.py", "def save(state, checkpoint_id): pass")
                import torch.distributed.checkpoint.state_dict_saver as saver
            saver.save({"w": torch.ones(2)}, checkpoint_id=os.path.join(folder, "saved"))
        """)
        names = [record.name for record in session.events("PhaseBegin") if record.phase == 8]
        self.assertEqual(names[:3], ["save_pretrained", "safetensors.save_file", "distributed.checkpoint.save"])
