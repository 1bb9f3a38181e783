import { describe, expect, it } from 'vitest';
import { sessionMigrations } from '../../../src/objects/session/object/schema.ts';
import { createTaintStore } from '../../../src/objects/shared/taint-store.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';
import { maxTaintSourceCharacters } from '../../../src/core/policy/taint.ts';

const opened = (sql = fakeSql(sessionMigrations)) => ({ sql, store: createTaintStore(sql, () => 7) });

describe('what a conversation has seen', () => {
  it('is nothing at first, and then the first source of each label', () => {
    const { store } = opened();
    expect(store.read()).toEqual({ private: null, untrusted: null });
    store.mark('private', 'a.txt (builtin.read_file)');
    store.mark('private', 'b.txt (builtin.read_file)');
    expect(store.read()).toEqual({ private: 'a.txt (builtin.read_file)', untrusted: null });
  });

  it('survives a restart, and cannot be overwritten then', () => {
    const { sql, store } = opened();
    store.mark('untrusted', 'a response from example.com (builtin.http_request)');
    const { store: later } = opened(sql);
    later.mark('untrusted', 'another');
    expect(later.read()).toEqual({ private: null, untrusted: 'a response from example.com (builtin.http_request)' });
    expect(opened(sql).store.read()).toEqual(later.read());
  });

  it('is taken over from another session, where this one has no mark', () => {
    const { sql, store } = opened();
    store.mark('private', 'mine');
    store.addAll({ private: 'theirs', untrusted: 'a page' });
    expect(opened(sql).store.read()).toEqual({ private: 'mine', untrusted: 'a page' });
    store.addAll({ private: null, untrusted: null });
    expect(opened(sql).store.read()).toEqual({ private: 'mine', untrusted: 'a page' });
  });

  it('is stored and shown short, on one line, without hidden characters', () => {
    const { sql, store } = opened();
    store.mark('private', `\u202efile${'x'.repeat(1_000)}`);
    store.mark('untrusted', 'one\ntwo\ud800');
    const kept = opened(sql).store.read();
    expect(kept).toEqual(store.read());
    expect(kept.private).toMatch(/^<U\+202E>file.*…$/);
    expect(kept.private).toHaveLength(maxTaintSourceCharacters);
    expect(kept.untrusted).toBe('one two\ufffd');
  });
});
