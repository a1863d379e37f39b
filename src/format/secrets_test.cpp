#include "format/secrets.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace batchlight::format {
namespace {

using std::string_literals::operator""s;

std::vector<std::string> WordsOf(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(IsSecretName, IsSoByItsParts) {
  const std::string secret =
      "WANDB_API_KEY HF_TOKEN --api-key aws_secret_access_key PGPASSWORD --hub_token "
      "db.password DB_PASSWD apiKey accessToken APIKEY HF_TOKEN_2 SSHPASS DB_PASS --pass "
      "MYSQL_PWD GITHUB_PAT Authorization Proxy-Authorization X-Api-Key Cookie --auth _auth "
      "NEXT_AUTH_TOKEN API_TOKENS AccountKey --key PRIVATE_KEY_DATA "
      "GOOGLE_APPLICATION_CREDENTIALS --model-api-key VAULT_ID_TOKEN id_token "
      "ACTIONS_ID_TOKEN_REQUEST_TOKEN INPUT_GITHUB_TOKEN VISION_KEY COSMOS_PRIMARY_KEY GROUP_TOKEN "
      "LABEL_STUDIO_TOKEN DATASET_TOKEN MODEL_TOKEN GITHUB_TOKENS";
  for (const std::string& name : WordsOf(secret)) EXPECT_TRUE(IsSecretName(name)) << name;
  const std::string open =
      "PATH RANK TOKENIZERS_PARALLELISM --tokenizer --tokenizer-name PWD OLDPWD --num-tokens "
      "max_tokens --max-new-tokens maxTokens --special-tokens --pad-token eos_token "
      "pad_token_id --mask-token --token-dropout --tokens-per-batch --keypoints --keyboard "
      "--monkey --keyframe-rate num_key_value_heads --key-dim --sort-key --image_key --text-key "
      "keyword --two-pass forward_pass --bypass --compass --author --authors AUTH_TYPE "
      "SSH_AUTH_SOCK --use-auth --password-stdin --token-file --passes TOKEN_URL MAX_TOKENS "
      "NUM_INPUT_TOKENS";
  for (const std::string& name : WordsOf(open)) EXPECT_FALSE(IsSecretName(name)) << name;
  EXPECT_FALSE(IsSecretName(""));
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
  const std::string text =
      "sh\0-c\0export A_KEY=abcdef; run --token 123456 x\0--password\0a b c\0"s;
  const std::string masked = "sh\0-c\0export A_KEY=*** run --token *** x\0--password\0***\0"s;
  EXPECT_EQ(WithoutSecrets(text, '\0'), masked);
}

// Of words, a blank between any two.
std::string MaskedWords(std::vector<std::string> words) { return CommandWithoutSecrets(words); }

TEST(MaskSecrets, KnowsQuotesAsAShellDoes) {
  EXPECT_EQ(Masked(R"(export HF_TOKEN="S1 S2" A_PASSPHRASE='S3 S4'; x)"),
            R"(export HF_TOKEN="***" A_PASSPHRASE='***'; x)");
  EXPECT_EQ(Masked(R"(x --password "S1 S2" --lr 3)"), R"(x --password "***" --lr 3)");
  EXPECT_EQ(Masked(R"(x "HF_TOKEN=S1 S2" "--key=S3 S4" y)"), R"(x "HF_TOKEN=***" "--key=***" y)");
  EXPECT_EQ(Masked(R"(A_KEY=S1\ S2 x)"), "A_KEY=*** x");
  EXPECT_EQ(Masked(R"(A_KEY="S1 \" S2" x)"), R"(A_KEY="***" x)");
  EXPECT_EQ(Masked(R"(A_KEY="S1 "'S2 '"S3 S4" x)"), "A_KEY=*** x");
  EXPECT_EQ(Masked("A_KEY=$(cat S1 (S2) S3) x"), "A_KEY=*** x");
  EXPECT_EQ(Masked("A_KEY=`cat S1` x"), "A_KEY=*** x");
  EXPECT_EQ(Masked(R"(A_KEY="S1 S2)"), R"(A_KEY="***)");  // cut
  EXPECT_EQ(Masked(R"sh(bash -c "python -c \"login(token=\\\"S1 S2\\\", n=3)\"" x)sh"),
            R"sh(bash -c "python -c \"login(token=\\\"***\\\", n=3)\"" x)sh");
  EXPECT_EQ(MaskedWords({"bash", "-lc", "HF_TOKEN=S01 python train.py --lr 3"}),
            "bash -lc HF_TOKEN=*** python train.py --lr 3");
  EXPECT_EQ(MaskedWords({"env", "HF_TOKEN=S01 S02", "python"}), "env HF_TOKEN=*** python");
}

TEST(MaskSecrets, KnowsNamesInsideOfWords) {
  EXPECT_EQ(MaskedWords({"--env=HF_TOKEN=S01 S02", "x"}), "--env=HF_TOKEN=*** x");
  EXPECT_EQ(MaskedWords({"--export=ALL,HF_TOKEN=S01,X_KEY=S02", "x"}),
            "--export=ALL,HF_TOKEN=*** x");
  EXPECT_EQ(MaskedWords({"-eHF_TOKEN=S01", "+logger.api_key=S02", "--api_key:S03"}),
            "-eHF_TOKEN=*** +logger.api_key=*** --api_key:***");
  EXPECT_EQ(Masked("x --env=HF_TOKEN=S01 --lr=1"), "x --env=HF_TOKEN=*** --lr=1");
}

TEST(MaskSecrets, KnowsJson) {
  EXPECT_EQ(MaskedWords({R"({"api_key": "S01 S02", "lr": 3})"}), R"({"api_key": "***", "lr": 3})");
  EXPECT_EQ(MaskedWords({R"({"pin_token":12345,"lr":3})"}), R"({"pin_token":***,"lr":3})");
  EXPECT_EQ(MaskedWords({R"({"credentials": {"a": "S1", "b": [1]}, "lr": 3})"}),
            R"({"credentials": ***, "lr": 3})");
  EXPECT_EQ(MaskedWords({"x={api_key:S01,lr:3}"}), "x={api_key:***");
  EXPECT_EQ(Masked(R"(x '{"api_key" : "S01", "b": "c d"}' y)"),
            R"(x '{"api_key" : "***", "b": "c d"}' y)");
  EXPECT_EQ(Masked(R"(sh -c "x '{\"api_key\": \"S01 S02\", \"b\": 1}' y")"),
            R"(sh -c "x '{\"api_key\": \"***\", \"b\": 1}' y")");
  EXPECT_EQ(Masked(R"(["--token", "S01", "--lr", "3"])"), R"(["--token", "***", "--lr", "3"])");
}

TEST(MaskSecrets, KnowsCodeAndSettings) {
  EXPECT_EQ(
      MaskedWords({"python", "-c", R"(os.environ["HF_TOKEN"]="S01"; d["password"] = 'S02'; x)"}),
      R"(python -c os.environ["HF_TOKEN"]="***"; d["password"] = '***'; x)");
  EXPECT_EQ(
      MaskedWords({"python", "-c", R"(os.putenv("B_TOKEN","S03"); e.setdefault('A_KEY', 'S04'))"}),
      R"(python -c os.putenv("B_TOKEN","***"); e.setdefault('A_KEY', '***'))");
  EXPECT_EQ(MaskedWords({"python", "-c",
                         R"(api_key: str = "S05"; a_key: str | None = "S06"; if token: x = 1)"}),
            R"(python -c api_key: *** a_key: *** if token: x = 1)");
  EXPECT_EQ(
      MaskedWords({"sh", "-c",
                   "HF_TOKENS=(S01 S02) x; cat <<X\npassword: S03\n  token: S04\n"
                   "api_key = S05\nlr = 3\nX"}),
      "sh -c HF_TOKENS=*** x; cat <<X\npassword: ***\n  token: ***\napi_key = ***\nlr = 3\nX");
  EXPECT_EQ(MaskedWords({"python", "-c",
                         R"(def f(a, token: str = "S07"): x; a_key: Union[str, None] = "S08")"}),
            R"(python -c def f(a, token: *** x; a_key: ***)");
  EXPECT_EQ(MaskedWords({"x", "--hf-token=", "S01", "--lr", "3"}), "x --hf-token= *** --lr 3");
  EXPECT_EQ(MaskedWords({"python", "-c", "x = 1\nkey = split(rng)\nif d['key'] == key: pass"}),
            "python -c x = 1\nkey = split(rng)\nif d['key'] == key: pass");
}

TEST(MaskSecrets, KnowsHeadersAndUrls) {
  EXPECT_EQ(MaskedWords({"curl", "-H", "Authorization: Bearer S01", "x"}),
            "curl -H Authorization: *** x");
  EXPECT_EQ(Masked(R"(curl --header "Authorization: Bearer S01" x)"),
            R"(curl --header "Authorization: ***" x)");
  EXPECT_EQ(Masked("curl -H Authorization: Bearer S01 x"), "curl -H Authorization: *** x");
  EXPECT_EQ(Masked("git clone https://S0123@github.com/a/b"),
            "git clone https://***@github.com/a/b");
  EXPECT_EQ(Masked("a postgres://me:S1/S@2@host:5/db"), "a postgres://me:***@host:5/db");
  EXPECT_EQ(Masked("'redis://:S01@h' ssh://git@h:22/x"), "'redis://:***@h' ssh://git@h:22/x");
  EXPECT_EQ(Masked("get https://h/x?a=1&token=S01&b=2 https://h/?sv=1&sig=S02"),
            "get https://h/x?a=1&token=***&b=2 https://h/?sv=1&sig=***");
}

TEST(MaskSecrets, KeepsWhatIsNoSecret) {
  for (const std::string text :
       {"train.py --num-tokens=5 tokenizer=gpt2 --max_tokens 3 --key-dim 64 --two-pass x",
        "python -m torch.distributed.run --rdzv-endpoint=host:29500 --tee 3 train.py",
        "docker run -v secrets:/x -v my_token:/y:ro -p 80:80 -u 1000:1000 image",
        "x https://host:8080/a/@user/b s3://bucket/k=1@2/c http://h/?page=1",
        "if $token == 3; then", R"py(python -c "if d['token'] == key: print('a=b', a['key'])")py",
        "it's --token-file /a/b 'x y'",
        "cat /run/secrets/token | docker login --password-stdin host", "://:// a: b:c =d '\"\\"}) {
    EXPECT_EQ(Masked(text), text);
    EXPECT_EQ(WithoutSecrets(text, '\0'), text);
  }
}

TEST(MaskSecrets, TakesAnyText) {
  std::mt19937 random(1);
  const std::vector<std::string> pieces = {"token", "\"",   "'",    "\\", "=",  ":",   " ", "--key",
                                           "://",   "@",    "{",    "}",  "$(", ")",   "`", ",",
                                           "&",     "?sig", "http", "a",  "-",  "\0"s, "[", "S123"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += pieces[random() % pieces.size()];
    for (const char separator : {' ', '\0'}) {
      const std::string masked = WithoutSecrets(text, separator);
      ASSERT_LE(masked.size(), text.size()) << text;
    }
  }
  // In a time that grows with its length alone.
  for (const std::string& piece : pieces) {
    std::string text = "a:x";
    while (text.size() < 1 << 18) text += piece + "://token=";
    WithoutSecrets(text, ' ');
    WithoutSecrets(text, '\0');
  }
}

TEST(MaskSecrets, KnowsProperties) {
  EXPECT_EQ(PropertyWithoutSecrets("environment.HF_TOKEN", "abc"), "***");
  EXPECT_EQ(PropertyWithoutSecrets("environment.RANK", "3"), "3");
  EXPECT_EQ(PropertyWithoutSecrets("session.command", "a --key=b"), "a --key=*");
  EXPECT_EQ(PropertyWithoutSecrets("environment.ARGS", "--api-key=S01 --lr 3"),
            "--api-key=*** --lr 3");
  EXPECT_EQ(PropertyWithoutSecrets("environment.DATABASE_URL", "postgres://me:S01@h/db"),
            "postgres://me:***@h/db");
  EXPECT_EQ(PropertyWithoutSecrets("machine.token", "abc"), "abc");
}

}  // namespace
}  // namespace batchlight::format
