# Read by cpack for each kind of package: an archive is unpacked anywhere and has no prefix.
if(CPACK_GENERATOR STREQUAL TZST)
  set(CPACK_PACKAGING_INSTALL_PREFIX "")
endif()
