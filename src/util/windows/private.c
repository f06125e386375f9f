/* Who may change a file: its owner and its access control list; see private.h. */
#include "util/folder.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include "util/windows/private.h"

#include <aclapi.h>
#include <stdint.h>

enum { MAX_SID = 68 }; /* SECURITY_MAX_SID_SIZE */

/* Whether a security identifier is this user, an administrator or the system itself: they can do anything anyway. */
static bool is_trusted(PSID who) {
    static const WELL_KNOWN_SID_TYPE trusted[] = {WinLocalSystemSid, WinBuiltinAdministratorsSid,
                                                  WinCreatorOwnerSid, WinCreatorOwnerRightsSid};
    for (size_t i = 0; i < sizeof trusted / sizeof *trusted; i++)
        if (IsWellKnownSid(who, trusted[i])) return true;
    HANDLE token;
    union {
        TOKEN_USER user;
        unsigned char bytes[sizeof(TOKEN_USER) + MAX_SID];
    } own;
    DWORD size;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return false;
    const bool same =
        GetTokenInformation(token, TokenUser, &own, sizeof own, &size) && EqualSid(own.user.User.Sid, who);
    CloseHandle(token);
    return same;
}

/* Whether an entry lets somebody write whom is_trusted does not know. */
static bool lets_others_write(const ACE_HEADER *header) {
    const DWORD writes = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | DELETE | WRITE_DAC |
                         WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
    if (header->AceType != ACCESS_ALLOWED_ACE_TYPE || (header->AceFlags & INHERIT_ONLY_ACE)) return false;
    const ACCESS_ALLOWED_ACE *entry = (const ACCESS_ALLOWED_ACE *)header;
    return (entry->Mask & writes) != 0 && !is_trusted((PSID)(uintptr_t)&entry->SidStart);
}

bool qn__windows_is_private(HANDLE handle) {
    PSID owner = NULL;
    PACL list = NULL;
    PSECURITY_DESCRIPTOR memory = NULL;
    if (GetSecurityInfo(handle, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                        &owner, NULL, &list, NULL, &memory) != ERROR_SUCCESS)
        return false;
    bool own = owner && list && is_trusted(owner); /* no list: everyone may do everything */
    for (DWORD i = 0; own && i < list->AceCount; i++) {
        void *entry;
        own = GetAce(list, i, &entry) && !lets_others_write(entry);
    }
    LocalFree(memory);
    return own;
}
#endif
