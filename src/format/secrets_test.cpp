#include "format/secrets.h"

#include <gtest/gtest.h>

namespace batchlight::format {
namespace {

TEST(IsSecretName, IsSoByItsParts) {
  for (const char* name : {"WANDB_API_KEY", "HF_TOKEN", "--api-key", "aws_secret_access_key",
                           "PGPASSWORD", "--hub_token", "db.password", "DB_PASSWD"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
  for (const char* name :
       {"", "PATH", "RANK", "TOKENIZERS_PARALLELISM", "--tokenizer", "--tokenizer-name", "PWD"}) {
    EXPECT_FALSE(IsSecretName(name)) << name;
  }
}

std::string Masked(std::string command) { return WithoutSecrets(std::move(command), ' '); }

TEST(MaskSecrets, MasksValuesOnly) {
  EXPECT_EQ(Masked("python train.py --lr 0.1"), "python train.py --lr 0.1");
  EXPECT_EQ(Masked("train.py --api-key=abcdef --lr 1"), "train.py --api-key=*** --lr 1");
  EXPECT_EQ(Masked("train.py --hub_token abcdef x"), "train.py --hub_token *** x");
  EXPECT_EQ(Masked("train.py --key --lr 1"), "train.py --key --lr 1");  // a switch
  EXPECT_EQ(Masked("env HF_TOKEN=hf_abc python"), "env HF_TOKEN=*** python");
  EXPECT_EQ(Masked("train.py --password"), "train.py --password");
  EXPECT_EQ(Masked("--token a"), "--token *");
  EXPECT_EQ(Masked("--token="), "--token=");
  EXPECT_EQ(Masked(""), "");
}

TEST(MaskSecrets, KnowsWordsAndShellCommands) {
  using std::string_literals::operator""s;
  const std::string text =
      "sh\0-c\0export A_KEY=abcdef; run --token 123456 x\0--password\0a b c\0"s;
  const std::string masked = "sh\0-c\0export A_KEY=*** run --token *** x\0--password\0***\0"s;
  EXPECT_EQ(WithoutSecrets(text, '\0'), masked);
}

TEST(MaskSecrets, KnowsProperties) {
  EXPECT_EQ(PropertyWithoutSecrets("environment.HF_TOKEN", "abc"), "***");
  EXPECT_EQ(PropertyWithoutSecrets("environment.RANK", "3"), "3");
  EXPECT_EQ(PropertyWithoutSecrets("session.command", "a --key=b"), "a --key=*");
  EXPECT_EQ(PropertyWithoutSecrets("machine.token", "abc"), "abc");
}

}  // namespace
}  // namespace batchlight::format
