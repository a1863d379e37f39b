# What is installed beside the programs, and the packages made of it: `cmake --install BUILD`,
# `cpack --config BUILD/CPackConfig.cmake` (.deb and .tar.zst), tools/make_wheel.py (wheel).
# An install is a folder that may lie anywhere and be moved: bin/, lib/ and share/ as in the build.
install(FILES LICENSE DESTINATION share/doc/batchlight RENAME copyright)
install(FILES CHANGELOG.md docs/third-party.md DESTINATION share/doc/batchlight)

# Packs what has been built; building the tests first would take minutes and pack nothing of them.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(CPACK_GENERATOR DEB TZST)
set(CPACK_PACKAGE_NAME batchlight)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "batchlight developers <batchlight@localhost.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler for deep-learning training")
set(CPACK_PACKAGE_DESCRIPTION "Shows what each step of a PyTorch training run is made of, why it is
slow and what to change. Records a run with no change to the script, and reads exports of Nsight
Systems and torch.profiler.")
set(CPACK_PACKAGE_FILE_NAME batchlight-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_THREADS 0)

set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_ARCHIVE_FILE_NAME ${CPACK_PACKAGE_FILE_NAME})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "")  # static
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)  # zstd needs dpkg 1.21
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/tools/package/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
# The archive has no prefix: it is unpacked anywhere.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/tools/package/archive.cmake)
include(CPack)
