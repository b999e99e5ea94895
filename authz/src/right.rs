//! A right that somebody must still hold at the moment in which a command of theirs is carried out.
//!
//! What let a caller in the command itself says, and the state judges it as it changes. Rights hang on roles, and
//! on what their privileges mean today, which no log may ask: they are judged on the core that keeps the state,
//! right before the command is proposed, with nothing between the look and the command. What a command takes from
//! them, as a key its limits, is taken there as well.

use json::{Object, Value};

use crate::command::Command;
use crate::error::{Error, Result};
use crate::form::Hash;
use crate::principal::Principal;
use crate::record::proof::Proof;
use crate::state::State;

/// Which right on the cluster a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// That to this action.
    Action(&'static str),
    /// That to keys of one's own, or to this action.
    OwnKeysOr(&'static str),
    /// None: everybody may do it to what is its own.
    Nothing,
}

/// Who asks, and which right that takes.
#[derive(Clone, Debug)]
pub struct Right {
    /// Who asks.
    pub principal: Principal,
    /// What it takes.
    pub need: Need,
    /// By which session of the pages, where it is by one.
    pub session: Option<Hash>,
    /// For which user, by name, who asks must be able to act: the command lends that account to an application, or
    /// gives out what opens it.
    pub account: Option<String>,
    /// Applications whose privileges or data the command changes: who may not change those of all may for some.
    pub applications: Vec<String>,
    /// By whose roles the keys are limited that the command makes or changes.
    pub owner: Option<Principal>,
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
}

impl Command {
    /// The applications whose privileges or data of profiles it changes.
    pub fn applications(&self) -> Vec<String> {
        match self {
            Self::PutPrivileges { privileges } => {
                privileges.iter().map(|one| one.application.clone()).collect()
            }
            Self::DeletePrivileges { application, .. } => vec![application.clone()],
            Self::ChangeProfile { labels, data, .. } => {
                let parts = [labels, data].into_iter().flatten().filter_map(Value::as_object);
                parts.flat_map(Object::keys).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Right {
    /// The right of `principal` to what `need` says, at this time in milliseconds since 1970.
    pub fn new(principal: Principal, need: Need, now_ms: u64) -> Self {
        let applications = Vec::new();
        Self { principal, need, session: None, account: None, applications, owner: None, now_ms }
    }

    /// Is it held in this state?
    ///
    /// # Errors
    /// [`Error::Lapsed`] where the bearer would not be let in any more, [`Error::Denied`] where it would, and may
    /// not do this, [`Error::NotForAccount`] where it may, but not for that account.
    pub fn judge(&self, state: &State) -> Result<()> {
        if self.session.is_some_and(|id| !Proof::Session { id }.holds(state)) {
            return Err(Error::Lapsed);
        }
        let now = self.principal.renewed(state, self.now_ms).ok_or(Error::Lapsed)?;
        if let Some(account) = &self.account
            && !state.user(account).is_some_and(|user| now.may_act_as(user))
        {
            let (user, account) = (now.name().to_owned(), account.clone());
            return Err(Error::NotForAccount { user, account });
        }
        let action = match self.need {
            Need::Nothing => return Ok(()),
            Need::OwnKeysOr(_) if now.gate().own_keys() => return Ok(()),
            Need::Action(action) | Need::OwnKeysOr(action) => action,
        };
        let applications: Vec<&str> = self.applications.iter().map(String::as_str).collect();
        let granted = now.gate().applications(action, &applications);
        granted.map_err(|denied| Error::Denied(Box::new(denied)))
    }

    /// The command with the limits of this moment: a key never exceeds what its owner holds as it is kept, also where
    /// that was more when the request came.
    ///
    /// # Errors
    /// [`Error::Lapsed`] where the owner would not be let in any more, or nobody may act as the owner who did.
    pub fn limited(&self, mut command: Command, state: &State) -> Result<Command> {
        let Some(owner) = &self.owner else { return Ok(command) };
        let owner = owner.renewed(state, self.now_ms).ok_or(Error::Lapsed)?;
        match &mut command {
            Command::PutKey { key, .. } => key.limited_by = owner.roles(state),
            Command::UpdateKeys { limited_by, .. } => *limited_by = owner.roles(state),
            _ => {}
        }
        Ok(command)
    }
}
