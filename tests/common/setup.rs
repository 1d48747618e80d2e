//! Frequent set-ups: a user with one key point, and a session that cites it and ends.

use super::api::{Api, Step};
use super::env::TestEnv;
use super::session::Session;

impl Session {
    /// Builds a session in which the assistant followed `pat-001`.
    pub(crate) fn citing(id: &str) -> Self {
        Self::new(id)
            .user("hello")
            .assistant("By [pat-001], done.")
            .done()
    }

    pub(crate) fn saying(id: &str, words: &str) -> Self {
        Self::new(id).user("go on").assistant(words).done()
    }

    /// Builds a session of work by a key point, in which all succeeds.
    pub(crate) fn following(id: &str, point: &str) -> Self {
        Self::new(id)
            .user("add a flag to the parser")
            .assistant(&format!("By [{point}], the tests first."))
            .ran("cargo test", "12 passed")
            .assistant("Done, all 12 tests pass.")
            .done()
    }
}

impl TestEnv {
    /// Creates a user with one key point; the worker runs when the test calls it.
    pub(crate) fn with_point() -> Self {
        let env = Self::without_worker();
        env.write_playbook(&[("pat-001", "run the tests")]);
        env
    }

    /// Creates the same user, whose models answer at `api`.
    pub(crate) fn asking(api: &Api) -> Self {
        let mut env = Self::with_point();
        env.use_api(&api.base_url(), "sk-test");
        env
    }

    /// Creates the same user, whose models go through these steps.
    pub(crate) fn asking_for(steps: impl IntoIterator<Item = Step>) -> (Self, Api) {
        let api = Api::script(steps);
        (Self::asking(&api), api)
    }

    /// Creates the same user, with a model that answers sensibly.
    pub(crate) fn with_model() -> (Self, Api) {
        Self::asking_for([Step::Canned])
    }

    /// Creates the same user, with a session that has ended.
    pub(crate) fn with_ended(steps: impl IntoIterator<Item = Step>) -> (Self, Api) {
        let (env, api) = Self::asking_for(steps);
        env.end_citing("s1");
        (env, api)
    }

    /// Creates a user without a playbook whose models go through these steps.
    pub(crate) fn answered_by(steps: impl IntoIterator<Item = Step>) -> (Self, Api) {
        let api = Api::script(steps);
        let mut env = Self::without_worker();
        env.use_api(&api.base_url(), "sk-test");
        (env, api)
    }

    /// Creates the user with one key point, whose model votes cited points helpful.
    pub(crate) fn voting() -> (Self, Api) {
        let mut env = Self::with_point();
        let api = env.use_votes();
        (env, api)
    }

    /// Sets a model that votes each cited key point helpful.
    pub(crate) fn use_votes(&mut self) -> Api {
        let api = Api::script([Step::votes()]);
        self.use_api(&api.base_url(), "sk-test");
        api
    }

    #[track_caller]
    pub(crate) fn end(&self, session: &Session) {
        self.write_transcript(session);
        self.ends(session.id());
    }

    #[track_caller]
    pub(crate) fn end_citing(&self, id: &str) {
        self.end(&Session::citing(id));
    }

    #[track_caller]
    pub(crate) fn learn_from(&self, session: &Session) {
        self.end(session);
        self.worker();
    }

    #[track_caller]
    pub(crate) fn learn_citing(&self, id: &str) {
        self.learn_from(&Session::citing(id));
    }
}
