#include "analysis/lines/source_place.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(SourcePlace, TellsWhoseCodeALineIs) {
  const struct {
    const char* file;
    SourceOwner owner;
  } cases[] = {
      {"/home/user/train.py", SourceOwner::kUser},
      {"train.py", SourceOwner::kUser},
      {"<string>", SourceOwner::kUser},
      {"<ipython-input-3-8c1e>", SourceOwner::kUser},
      {"/tmp/ipykernel_71/2041.py", SourceOwner::kUser},
      {"/home/user/lib/python3_tools/a.py", SourceOwner::kUser},
      {"/usr/lib/python3.11/threading.py", SourceOwner::kPython},
      {"/root/.pyenv/versions/3.13.0/lib/python3.13/runpy.py", SourceOwner::kPython},
      {"<frozen runpy>", SourceOwner::kPython},
      {"/usr/lib/python3/dist-packages/torch/nn/modules/module.py", SourceOwner::kPyTorch},
      {"/v/lib/python3.11/site-packages/torch/optim/adamw.py", SourceOwner::kPyTorch},
      {"/tmp/torchinductor_user/ab/cab.py", SourceOwner::kPyTorch},
      {"/v/lib/python3.11/site-packages/transformers/models/gpt2.py", SourceOwner::kPackage},
      {"/v/lib/python3.11/site-packages/torchvision/models/resnet.py", SourceOwner::kPackage},
      {"/opt/batchlight/python/batchlight/_bridge/_stacks.py", SourceOwner::kNobody},
      {"<batchlight>", SourceOwner::kNobody},
      {"", SourceOwner::kNobody},
  };
  for (const auto& [file, owner] : cases) EXPECT_EQ(OwnerOfSource(Store(), file), owner) << file;
}

TEST(SourcePlace, KnowsTheFilesThatSayWhatTheyCallFor) {
  EXPECT_TRUE(IsCheckpointing("/v/site-packages/torch/utils/checkpoint.py"));
  EXPECT_FALSE(IsCheckpointing("/home/user/checkpoint.py"));
  EXPECT_TRUE(IsOptimizer("/v/lib/python3.11/site-packages/torch/optim/sgd.py"));
  EXPECT_FALSE(IsOptimizer("/home/user/optim/sgd.py"));
  EXPECT_TRUE(IsDataLoader("/v/lib/python3.11/site-packages/torch/utils/data/_utils/fetch.py"));
  EXPECT_TRUE(IsImporting("<frozen importlib._bootstrap_external>"));
  EXPECT_FALSE(IsImporting("<frozen runpy>"));
}

TEST(SourcePlace, NamesWhatIsInstalled) {
  EXPECT_EQ(InstalledModule(Store(), "/venv/lib/python3.11/site-packages/transformers/trainer.py"),
            "transformers");
  EXPECT_EQ(InstalledModule(Store(), "/usr/lib/python3/dist-packages/six.py"), "six");
  EXPECT_EQ(InstalledModule(Store(), "/usr/lib/python3.12/zipfile/__init__.py"), "zipfile");
  EXPECT_EQ(InstalledModule(Store(), "/usr/lib/python3.12/gzip.py"), "gzip");
  EXPECT_EQ(InstalledModule(Store(), "/home/u/train.py"), "");
  EXPECT_EQ(InstalledModule(Store(), "<string>"), "");
}

TEST(SourcePlace, TakesFoldersThatPackagesWereInstalledIntoForTheirs) {
  Store store;
  store.properties.Append({.key = store.strings.Intern("python.library_folders"),
                           .value = store.strings.Intern("/opt/libs:/home/u/site")});
  EXPECT_EQ(OwnerOfSource(store, "/home/u/site/pandas/core/frame.py"), SourceOwner::kPackage);
  EXPECT_EQ(OwnerOfSource(store, "/opt/libs/six.py"), SourceOwner::kPackage);
  EXPECT_EQ(OwnerOfSource(store, "/opt/libs/torch/optim/sgd.py"), SourceOwner::kPyTorch);
  EXPECT_EQ(OwnerOfSource(store, "/home/u/site_tools/a.py"), SourceOwner::kUser);
  EXPECT_EQ(OwnerOfSource(store, "/home/u/train.py"), SourceOwner::kUser);
  EXPECT_EQ(InstalledModule(store, "/home/u/site/pandas/core/frame.py"), "pandas");
  EXPECT_EQ(InstalledModule(store, "/opt/libs/six.py"), "six");
  EXPECT_TRUE(IsOptimizer("/opt/libs/torch/optim/sgd.py"));
  EXPECT_TRUE(IsDataLoader("/opt/libs/torch/utils/data/_utils/fetch.py"));
}

TEST(SourcePlace, ShortensPaths) {
  EXPECT_EQ(ShortFile("/home/user/train.py"), "train.py");
  EXPECT_EQ(ShortFile("train.py"), "train.py");
  EXPECT_EQ(ShortFile("<ipython-input-3/x>"), "<ipython-input-3/x>");
  EXPECT_EQ(ShortFile("</opt/batchlight/_bridge/_imports.py>"), "batchlight/_bridge/_imports.py");
  EXPECT_EQ(ShortFile("/opt/batchlight/_bridge/_a.py"), "batchlight/_bridge/_a.py");
  EXPECT_EQ(ShortFile("</"), "</");
}

}  // namespace
}  // namespace batchlight
