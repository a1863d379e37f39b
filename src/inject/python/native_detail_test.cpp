#include <gtest/gtest.h>

#include <cstdarg>
#include <thread>
#include <vector>

#include "inject/collect/step_detail.h"
#include "inject/python/native_function.h"

namespace batchlight::inject {
namespace {

int g_objects[4];
PyObject* ObjectAt(int i) { return reinterpret_cast<PyObject*>(&g_objects[i]); }

std::vector<bool> g_told;  // with detail

PyObject* CallWatcher(PyObject* watcher, ...) {
  va_list arguments;
  va_start(arguments, watcher);
  g_told.push_back(va_arg(arguments, PyObject*) == ObjectAt(1));
  va_end(arguments);
  return ObjectAt(2);
}

class NativeDetailTest : public testing::Test {
 protected:
  void SetUp() override {
    g_told.clear();
    g_py.Py_IncRef = g_py.Py_DecRef = [](PyObject*) {};
    g_py._Py_NoneStruct = ObjectAt(2);
    g_py.PyBool_FromLong = [](long value) { return ObjectAt(value != 0 ? 1 : 0); };
    g_py.PyObject_CallFunctionObjArgs = CallWatcher;
    PyObject* const watcher = ObjectAt(3);
    WatchDetail(nullptr, &watcher, 1);
  }
  void TearDown() override {
    g_plain_step = false;
    TellDetailWatcher();
    g_py = before_;
  }

 private:
  const CPython before_ = g_py;
};

TEST_F(NativeDetailTest, EachChangeIsToldOnce) {
  TellDetailWatcher();
  g_plain_step = true;
  TellDetailWatcher();
  TellDetailWatcher();
  g_plain_step = false;
  TellDetailWatcher();
  EXPECT_EQ(g_told, (std::vector<bool>{false, true}));
}

// It switches what is its thread's: told on another, it would do nothing.
TEST_F(NativeDetailTest, OtherThreadsDoNotTakeWhatItIsToBeTold) {
  g_plain_step = true;
  std::thread(TellDetailWatcher).join();
  EXPECT_TRUE(g_told.empty());
  TellDetailWatcher();
  EXPECT_EQ(g_told, std::vector<bool>{false});
}

}  // namespace
}  // namespace batchlight::inject
