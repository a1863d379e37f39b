#include "capture/gpu/disassembly.h"

#include <gtest/gtest.h>

namespace batchlight::capture {
namespace {

TEST(Disassembly, InstructionsOfTwoFunctions) {
  const Disassembly code = ParseDisassembly(
      "\t.headerflags\t@\"EF_CUDA_SM90\"\n"
      "//--------------------- .text._Z5sinesPf --------------------------\n"
      "\t.section\t.text._Z5sinesPf,\"ax\",@progbits\n"
      "        .global         _Z5sinesPf\n"
      ".text._Z5sinesPf:\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
      ".L_x_0:\n"
      "        /*0010*/              @!P0 BRA `(.L_x_0);\n"
      ".text._Z5scalePfPKfi:\n"
      "        /*0010*/                   LDG.E R2, [R2.64] ;    /* 0x0000 */\n");
  EXPECT_EQ(InstructionAt(code, "_Z5sinesPf", 0), "LDC R1, c[0x0][0x28]");
  EXPECT_EQ(InstructionAt(code, "_Z5sinesPf", 0x10), "@!P0 BRA `(.L_x_0)");
  EXPECT_EQ(InstructionAt(code, "_Z5scalePfPKfi", 0x10), "LDG.E R2, [R2.64]");
  EXPECT_EQ(InstructionAt(code, "_Z5scalePfPKfi", 0x20), "");
  EXPECT_EQ(InstructionAt(code, "_Z5other", 0), "");
}

TEST(Disassembly, WhatIsNoneHasNoInstructions) {
  EXPECT_TRUE(ParseDisassembly("nvdisasm fatal   : no such file\n").empty());
  EXPECT_TRUE(ParseDisassembly("/*0000*/ NOP ;\n").empty()) << "of no function";
  const Disassembly odd = ParseDisassembly(".text.f:\n/*zz*/ NOP ;\n/*10 NOP ;\n/*20*/ ;\n/*\n");
  EXPECT_EQ(odd.at("f").size(), 0u);
}

}  // namespace
}  // namespace batchlight::capture
