/**
 * The capabilities of a running tool with the policy beneath them: what needs a person's word stops the tool before it
 * happens, however the tool was told to do it. A tool may swallow the error; `asked()` still knows.
 */
import type { Ask } from '../core/approval.ts';
import { judgeHost, judgeWrite, requestHost, type PolicyRule } from '../core/policy.ts';
import { Problem } from '../core/problem.ts';
import { FileError, type FileOverlay, type FileSystem } from '../ports/file-system.ts';
import type { ToolContext } from '../ports/tool-executor.ts';

export type AskFirst = { context: ToolContext; asked(): Ask | null };

/** Sends a request; `onHop` as in `ports/outbound.ts`. */
export type Send = (request: Request, onHop?: (to: URL, hop: number) => void) => Promise<Response>;

type Parts = { context: ToolContext; send: Send; canonical: string; rules: readonly PolicyRule[] };

/** Who has given leave already. `host`: of a person, the one that was asked about, where it was a host. */
export type Leave = { by: 'entry' } | { by: 'person'; host: string | null } | null;

/** `stop` ends the tool: what it does from here on is thrown away. */
export function guard(parts: Parts, leave: Leave, stop: (ask: Ask) => void): AskFirst {
  if (leave === null) return askFirst(parts, stop);
  switch (leave.by) {
    case 'person':
      return { context: { ...parts.context, fetch: fetchApproved(parts, leave.host) }, asked: () => null };
    case 'entry':
      return { context: parts.context, asked: () => null };
    default:
      return leave satisfies never;
  }
}

function askFirst(parts: Parts, stop: (ask: Ask) => void): AskFirst {
  const { context, send, canonical, rules } = parts;
  let first: Ask | null = null;
  const need = (ask: Ask): void => {
    first ??= ask;
    stop(first);
  };
  const checkWrite = (path: string): void => {
    // Nobody is asked about what is refused all the same.
    if (context.files.isReadOnly?.(path) === true) return;
    const ask = judgeWrite(canonical, path, rules);
    if (ask === null) return;
    need(ask);
    throw new FileError('EPERM', path, `${path} is outside /workspace: writing there needs approval.`);
  };
  return {
    asked: () => first,
    context: {
      ...context,
      files: guardWrites(context.files, checkWrite, () => first === null),
      fetch: (request) =>
        send(request, (to, hop) => {
          const ask = judgeHost(canonical, requestHost(to.href) ?? to.host, rules);
          if (ask === null) return;
          // Reading may begin anew once it is approved. Anything else has had its effect by the time it is led away.
          if (hop > 0 && request.method !== 'GET' && request.method !== 'HEAD') throw ledAway(request, to);
          need(ask);
          throw new Problem('forbidden', `${ask.reason}: it needs approval.`);
        }),
    },
  };
}

/**
 * A person saw the arguments, and of the hosts one: where that one leads was not shown, and cannot be asked for within the
 * same call again. `asked`: the host that the question named, which a server may since lead away from; null: the question was
 * about something else, so what was shown is the first request's own host.
 */
function fetchApproved({ send, canonical, rules }: Parts, asked: string | null): ToolContext['fetch'] {
  let approved = asked;
  return (request) =>
    send(request, (to, hop) => {
      const host = requestHost(to.href) ?? to.host;
      if (hop === 0) approved ??= host;
      if (host !== approved && judgeHost(canonical, host, rules) !== null) throw ledAway(request, to);
    });
}

function ledAway(request: Request, to: URL): Problem {
  const from = requestHost(request.url) ?? request.url;
  const detail =
    `The ${request.method} to ${from} leads to ${to.host}, which is new to this workspace, and was not followed there. ` +
    `Request ${to.href} separately if that is right.`;
  return new Problem('upstream_error', detail, { retryable: false });
}

/** Files that take nothing any more once the call is over: a tool that did not listen to its signal must not write later. */
export function untilOver(files: FileSystem, signal: AbortSignal): FileSystem {
  const check = (path: string): void => {
    if (signal.aborted) throw new FileError('EPERM', path, `${path} was not written: the call has ended.`);
  };
  return guardWrites(files, check, () => !signal.aborted);
}

/** `mayCommit`: a tool that had to ask has done nothing, whatever it makes of the error. */
function guardWrites(files: FileSystem, check: (path: string) => void, mayCommit: () => boolean): FileSystem {
  return {
    isReadOnly: (path) => files.isReadOnly?.(path) === true,
    stat: (path) => files.stat(path),
    read: (path) => files.read(path),
    list: (path) => files.list(path),
    paths: () => files.paths(),
    write(path, content, options) {
      check(path);
      files.write(path, content, options);
    },
    append(path, content) {
      check(path);
      files.append(path, content);
    },
    makeDirectory(path, options) {
      // `mkdir -p` of what is there does nothing.
      if (options?.recursive !== true || files.stat(path)?.kind !== 'directory') check(path);
      files.makeDirectory(path, options);
    },
    remove(path, options) {
      check(path);
      files.remove(path, options);
    },
    rename(from, to) {
      check(from);
      check(to);
      files.rename(from, to);
    },
    setMode(path, mode) {
      check(path);
      files.setMode(path, mode);
    },
    setModifiedAt(path, modifiedAt) {
      check(path);
      files.setModifiedAt(path, modifiedAt);
    },
    overlay(): FileOverlay {
      const overlay = files.overlay();
      return {
        ...guardWrites(overlay, check, mayCommit),
        commit() {
          if (mayCommit()) overlay.commit();
        },
      };
    },
  };
}
