/**
 * What a tool's name and hints say that it does. Hints of a server are only its word: a name that says "delete" is not made read-only by
 * one, and who is not trusted is not believed. Used by the policy, by the reader of listings, and by the executors of servers' tools.
 */
import { limits } from './limits.ts';
import { spaceWords } from './name-words.ts';
import type { ToolAnnotations } from './tool.ts';

/**
 * Whether the first verb of the name says that it changes something: `delete_file`, `repos-createIssue`, `browser_save`. After a verb of
 * reading the same words are things (`get_commit`), unless both are done (`get_or_create_user`).
 */
export function contradictsReadOnly(name: string): boolean {
  const words = wordsOf(name);
  const verb = words.find((word) => changing.has(word) || reading.has(word));
  if (verb === undefined || changing.has(verb)) return verb !== undefined;
  return words.some((word) => joining.has(word)) && words.some((word) => changing.has(word));
}

/** Whether another try of a call does no harm, by the word of a server that is trusted. */
export function isRepeatable({ trusted, annotations }: { trusted?: boolean; annotations?: ToolAnnotations }): boolean {
  return trusted === true && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true);
}

/** Cut at what is no letter and where capitals begin: `getHTTPPage_v2` is get, http, page, v. */
export function wordsOf(name: string): string[] {
  return spaceWords(name.slice(0, limits.maxToolNameBytes))
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
