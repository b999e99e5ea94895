//! Which calls have events of their own in the audit log: those of administrators, and changes of security.

use crate::rest::security::Op;
use crate::table::Api;

/// By when the line of an administrator's call is written, in strict mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Before its handler: its path says all.
    Before,
    /// Within: which indices it is about is known only while it is carried out. Its handler reads them in the body,
    /// and begins ([`super::begin_named`]); or the engine meets them, and begins by its gate.
    Within,
}

/// Does a call change what there is besides documents: indices, their settings, mappings and aliases, templates,
/// data streams, scripts, the cluster's settings and tasks? What keeps an index in order (refreshes, flushes,
/// merges) does not. An index that a write makes has a line of its own ([`super::made`]).
pub fn administers(api: Api) -> Option<Begins> {
    match api {
        Api::PutTemplate(_)
        | Api::DeleteTemplate(_)
        | Api::PutScript
        | Api::DeleteScript
        | Api::PutClusterSettings
        | Api::CancelTasks
        | Api::ExcludeVotes
        | Api::IncludeVotes => Some(Begins::Before),
        Api::CreateIndex
        | Api::DeleteIndex
        | Api::OpenIndex
        | Api::CloseIndex
        | Api::AddBlock
        | Api::PutSettings
        | Api::PutMapping
        | Api::PutAlias
        | Api::DeleteAlias
        | Api::UpdateAliases
        | Api::Resize(_)
        | Api::Rollover
        // Whether it is only tried stands in its body.
        | Api::Reroute
        | Api::CreateDataStream
        | Api::DeleteDataStream
        | Api::MigrateToDataStream
        | Api::ModifyDataStreams => Some(Begins::Within),
        _ => None,
    }
}

/// Of whoever changes the own password; of another's it is a reset.
pub const PASSWORD_CHANGED: &str = "password_changed";

/// The event of a change; none of what only looks, which goes on while the log takes no line.
pub fn changed(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::ChangePassword => PASSWORD_CHANGED,
        Op::PutUser => "user_changed",
        Op::DeleteUser => "user_deleted",
        Op::EnableUser => "user_enabled",
        Op::DisableUser => "user_disabled",
        Op::PutRole | Op::BulkPutRole => "role_changed",
        Op::DeleteRole | Op::BulkDeleteRole => "role_deleted",
        Op::PutRoleMapping => "role_mapping_changed",
        Op::DeleteRoleMapping => "role_mapping_deleted",
        Op::PutPrivileges => "privilege_changed",
        Op::DeletePrivileges => "privilege_deleted",
        Op::CreateApiKey | Op::CreateCrossClusterApiKey => "api_key_created",
        Op::GrantApiKey => "api_key_granted",
        Op::UpdateApiKey | Op::BulkUpdateApiKeys | Op::UpdateCrossClusterApiKey => {
            "api_key_changed"
        }
        Op::InvalidateApiKey => "api_key_invalidated",
        Op::GetToken => "token_issued",
        Op::InvalidateToken => "token_revoked",
        Op::CreateServiceToken => "service_token_created",
        Op::DeleteServiceToken => "service_token_deleted",
        Op::ActivateProfile | Op::UpdateProfile | Op::EnableProfile | Op::DisableProfile => {
            "profile_changed"
        }
        Op::EnrollNode => "enrollment_node",
        Op::EnrollKibana => "enrollment_kibana",
        Op::Authenticate
        | Op::GetUser
        | Op::QueryUser
        | Op::GetRole
        | Op::QueryRole
        | Op::GetRoleMapping
        | Op::GetPrivileges
        | Op::BuiltinPrivileges
        | Op::HasPrivileges
        | Op::UserPrivileges
        | Op::GetApiKey
        | Op::QueryApiKeys
        | Op::GetServiceAccounts
        | Op::GetServiceCredentials
        | Op::GetProfile
        | Op::SuggestProfiles
        | Op::ProfileHasPrivileges
        | Op::ClearCache => return None,
    })
}
