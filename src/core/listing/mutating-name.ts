/**
 * An advisory finding for administrators who review annotations: a tool that claims to be read-only but has a verb of change in its name.
 * The policy does not use it, since no list of verbs is complete.
 */
import { limits } from '../limits.ts';
import { spaceWords } from '../names/name-words.ts';

/**
 * Returns whether the first known verb of the name is a verb of change: `delete_file`, `repos-createIssue`, `browser_save`. After a verb of
 * reading the same words are nouns (`get_commit`), unless both are joined (`get_or_create_user`).
 */
export function hasMutatingName(name: string): boolean {
  const words = wordsOf(name);
  const verb = words.find((word) => changing.has(word) || reading.has(word));
  if (verb === undefined || changing.has(verb)) return verb !== undefined;
  return words.some((word) => joining.has(word)) && words.some((word) => changing.has(word));
}

/** Splits a name at capitals and at everything that is not a letter: `getHTTPPage_v2` is get, http, page, v. */
export function wordsOf(name: string): string[] {
  return spaceWords(name.slice(0, limits.maxToolNameLength))
    .toLowerCase()
    .split(/[^a-z]+/);
}

const changing: ReadonlySet<string> = new Set([
  ...['delete', 'remove', 'destroy', 'drop', 'erase', 'purge', 'truncate', 'wipe', 'clear', 'uninstall', 'unlink', 'rm'],
  ...[
    'write',
    'create',
    'update',
    'upsert',
    'insert',
    'add',
    'append',
    'edit',
    'modify',
    'replace',
    'rename',
    'patch',
    'put',
    'set',
    'save',
  ],
  ...['move', 'copy', 'upload', 'import', 'restore', 'reset', 'revert', 'merge', 'push', 'commit', 'fork', 'install', 'deploy', 'publish'],
  ...['send', 'post', 'reply', 'invite', 'pay', 'buy', 'purchase', 'transfer', 'refund', 'charge', 'submit', 'approve', 'reject', 'assign'],
  ...[
    'execute',
    'exec',
    'run',
    'start',
    'stop',
    'restart',
    'kill',
    'terminate',
    'cancel',
    'trigger',
    'enable',
    'disable',
    'grant',
    'revoke',
  ],
]);

const reading: ReadonlySet<string> = new Set([
  ...['get', 'list', 'read', 'search', 'find', 'fetch', 'show', 'view', 'describe', 'count', 'check', 'query', 'lookup', 'inspect'],
]);

const joining: ReadonlySet<string> = new Set(['and', 'or', 'then']);
