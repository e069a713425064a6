//! An agent whose limit is reached, in the journal's form.

use convoke_domain::design::event::ParkedHolder;
use convoke_domain::design::seat::Holder;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct ParkedBody {
    holder: HolderBody,
    until_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HolderBody {
    First,
    Second,
    Host,
}

impl From<ParkedHolder> for ParkedBody {
    fn from(parked: ParkedHolder) -> Self {
        let holder = match parked.holder {
            Holder::First => HolderBody::First,
            Holder::Second => HolderBody::Second,
            Holder::Host => HolderBody::Host,
        };
        Self { holder, until_ms: parked.until }
    }
}

impl From<ParkedBody> for ParkedHolder {
    fn from(body: ParkedBody) -> Self {
        let holder = match body.holder {
            HolderBody::First => Holder::First,
            HolderBody::Second => Holder::Second,
            HolderBody::Host => Holder::Host,
        };
        Self { holder, until: body.until_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};

    #[test]
    fn a_parked_agent_is_read_as_it_was_written() {
        for holder in ["first", "second", "host"] {
            let body = format!(r#"{{"holder":"{holder}","until_ms":1764000000000}}"#);
            let event = decode("parked", &body).unwrap();
            assert_eq!(encode(&event), ("parked", body));
        }
        for wrong in
            ["{}", r#"{"holder":"guest","until_ms":1}"#, r#"{"holder":"host","until_ms":"1"}"#]
        {
            assert!(decode("parked", wrong).is_err(), "{wrong}");
        }
    }
}
