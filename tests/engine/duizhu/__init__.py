"""Tests of Duizhu; ids are rules and cases of rules/duizhu.md."""
