//! `playbook demo`: a session teaches the next one, through the real hooks and worker.
