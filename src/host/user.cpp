// A user as the host knows it: from /etc/passwd, LDAP, SSSD or whatever else nsswitch.conf names.
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/questions.h"

namespace batchlight::host {
namespace {

constexpr int kMostGroups = 65536;  // the kernel's NGROUPS_MAX

const passwd* FindUser(const char* user) {
  const passwd* const found = getpwnam(user);
  if (found != nullptr) return found;
  char* end = nullptr;
  const unsigned long number = strtoul(user, &end, 10);
  // A larger number would wrap: 4294967296 would be root.
  const bool is_user = *user >= '0' && *user <= '9' && *end == '\0' && number < UINT32_MAX;
  return is_user ? getpwuid(static_cast<uid_t>(number)) : nullptr;
}

}  // namespace

int PrintUser(const char* user) {
  const passwd* const found = FindUser(user);
  if (found == nullptr) return kUnknown;
  printf("uid=%u\ngid=%u\nname=%s\nhome=%s\nshell=%s\n", found->pw_uid, found->pw_gid,
         found->pw_name, found->pw_dir, found->pw_shell);
  static gid_t groups[kMostGroups];
  int count = kMostGroups;
  if (getgrouplist(found->pw_name, found->pw_gid, groups, &count) < 0) return kUnknown;
  for (int i = 0; i < count; ++i) printf("group=%u\n", groups[i]);
  return kAnswered;
}

}  // namespace batchlight::host
