//! A right that somebody must still hold at the moment in which a command of theirs is carried out.
//!
//! What let a caller in the command itself says, and the state judges it as it changes. Rights hang on roles, and
//! on what their privileges mean today, which no log may ask: they are judged on the core that keeps the state,
//! right before the command is proposed, with nothing between the look and the command.

use crate::error::{Error, Result};
use crate::principal::Principal;
use crate::state::State;

/// Which right on the cluster a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// That to this action.
    Action(&'static str),
    /// That to keys of one's own, or to this action.
    OwnKeysOr(&'static str),
}

/// Who asks, and which right that takes.
#[derive(Clone, Debug)]
pub struct Right {
    /// Who asks.
    pub principal: Principal,
    /// What it takes.
    pub need: Need,
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
}

impl Right {
    /// Is it held in this state?
    ///
    /// # Errors
    /// [`Error::Lapsed`] where the bearer would not be let in any more, [`Error::Denied`] where it would, and may
    /// not do this.
    pub fn judge(&self, state: &State) -> Result<()> {
        let now = self.principal.renewed(state, self.now_ms).ok_or(Error::Lapsed)?;
        let action = match self.need {
            Need::OwnKeysOr(_) if now.gate().own_keys() => return Ok(()),
            Need::Action(action) | Need::OwnKeysOr(action) => action,
        };
        now.gate().cluster(action).map_err(|denied| Error::Denied(Box::new(denied)))
    }
}
