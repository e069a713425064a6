//! The systems that packages are made for, and what each kind of package calls them.

/// The oldest C library of GNU that the programs run with.
pub const OLDEST_GLIBC: (u32, u32) = (2, 31);

/// The C library that a program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Libc {
    /// GNU's, of [`OLDEST_GLIBC`] or later.
    Glibc,
    /// musl, linked into the program, so that it needs no library.
    Musl,
    /// Apple's.
    Apple,
}

/// A system that packages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// What Rust calls it.
    pub triple: &'static str,
    /// Its C library.
    pub libc: Libc,
    /// What Debian calls its processor; nothing if there is no Debian package for it.
    pub debian: Option<&'static str>,
    /// The name of its npm package, without the scope.
    pub npm: &'static str,
    /// What Node calls its system and its processor.
    pub node: (&'static str, &'static str),
    /// What Python's packages call it.
    pub wheel: &'static str,
}

/// Every system, the most used first.
pub const ALL: [Target; 6] = [
    Target {
        triple: "x86_64-unknown-linux-gnu",
        libc: Libc::Glibc,
        debian: Some("amd64"),
        npm: "linux-x64",
        node: ("linux", "x64"),
        wheel: "manylinux_2_31_x86_64",
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        libc: Libc::Glibc,
        debian: Some("arm64"),
        npm: "linux-arm64",
        node: ("linux", "arm64"),
        wheel: "manylinux_2_31_aarch64",
    },
    Target {
        triple: "x86_64-unknown-linux-musl",
        libc: Libc::Musl,
        debian: None,
        npm: "linux-x64-musl",
        node: ("linux", "x64"),
        wheel: "musllinux_1_2_x86_64",
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        libc: Libc::Musl,
        debian: None,
        npm: "linux-arm64-musl",
        node: ("linux", "arm64"),
        wheel: "musllinux_1_2_aarch64",
    },
    Target {
        triple: "aarch64-apple-darwin",
        libc: Libc::Apple,
        debian: None,
        npm: "darwin-arm64",
        node: ("darwin", "arm64"),
        wheel: "macosx_11_0_arm64",
    },
    Target {
        triple: "x86_64-apple-darwin",
        libc: Libc::Apple,
        debian: None,
        npm: "darwin-x64",
        node: ("darwin", "x64"),
        wheel: "macosx_10_12_x86_64",
    },
];

impl Target {
    /// Finds a system by Rust's name for it.
    pub fn parse(triple: &str) -> Result<Self, String> {
        ALL.into_iter().find(|target| target.triple == triple).ok_or_else(|| {
            let known = ALL.map(|target| target.triple).join(", ");
            format!("Convoke has no packages for it; choose from {known}")
        })
    }

    /// Tells whether programs for it can be made on this machine: Apple's linker runs on Apple's
    /// system alone, and zig builds for Linux from anywhere.
    pub fn is_built_here(self) -> bool {
        (self.libc == Libc::Apple) == cfg!(target_os = "macos")
    }

    /// Returns what npm calls its C library; nothing where there is only one.
    pub const fn npm_libc(self) -> Option<&'static str> {
        match self.libc {
            Libc::Glibc => Some("glibc"),
            Libc::Musl => Some("musl"),
            Libc::Apple => None,
        }
    }

    /// Tells whether npm and pip take its packages for this machine's own: programs with musl inside
    /// run on every Linux, and installers choose by the machine's C library.
    pub fn is_this_machine(self) -> bool {
        let is_own = (self.libc == Libc::Musl) == cfg!(target_env = "musl");
        self.runs_here() && is_own
    }

    /// Tells whether this machine can run programs for it.
    pub fn runs_here(self) -> bool {
        let (system, processor) = self.node;
        let system = if system == "darwin" { "macos" } else { system };
        let processor = if processor == "x64" { "x86_64" } else { "aarch64" };
        system == std::env::consts::OS && processor == std::env::consts::ARCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_target_is_its_own() {
        for (at, one) in ALL.iter().enumerate() {
            for other in &ALL[at + 1..] {
                assert_ne!(one.npm, other.npm);
                assert_ne!(one.wheel, other.wheel);
                assert!(one.debian.is_none() || one.debian != other.debian);
            }
            assert_eq!(Target::parse(one.triple), Ok(*one));
        }
        assert!(Target::parse("riscv64gc-unknown-linux-gnu").unwrap_err().contains("choose from"));
    }

    // The bar is in the wheels' names, too: installers choose by it.
    #[test]
    fn wheels_name_the_oldest_library() {
        let (major, minor) = OLDEST_GLIBC;
        for target in ALL.iter().filter(|target| target.libc == Libc::Glibc) {
            assert!(target.wheel.starts_with(&format!("manylinux_{major}_{minor}_")), "{target:?}");
        }
    }
}
