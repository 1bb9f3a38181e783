/**
 * The capabilities of a running tool with the policy beneath them: what needs a person's word stops the tool before it
 * happens, however the tool was told to do it. A tool may swallow the error; `asked()` still knows. What is denied is an error
 * for the tool, which may go on with the rest.
 */
import type { Ask } from '../../core/approval.ts';
import type { Effect } from '../../core/policy-effect.ts';
import { requestHost } from '../../core/policy/host.ts';
import { withoutAsking, type Judgement } from '../../core/policy/judge.ts';
import { Problem } from '../../core/problem.ts';
import { FileError, type FileSystem } from '../../ports/file-system.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { guardFiles } from './guard-files.ts';
import { guardDesk, guardMaker, guardSecret, type Check } from './guard-registry.ts';

/** `denied`: why, of the first few things that were not done: a shell says no more than `operation not permitted`. */
export type AskFirst = { context: ToolContext; asked(): Ask | null; denied(): readonly string[] };

/** Sends a request; `onHop` as in `ports/outbound.ts`. */
export type Send = (request: Request, onHop?: (to: URL, hop: number) => void) => Promise<Response>;

/**
 * `ruled`: there are rules at all; without any nothing is denied, and much need not be looked at. `inTurn`: a model acts. `called`: the tool
 * that it has called already and would call again; absent or null: none.
 */
type Parts = {
  context: ToolContext;
  send: Send;
  judge(effect: Effect): Judgement;
  ruled: boolean;
  inTurn: boolean;
  called?(): string | null;
};

/**
 * Who has given leave already. `host`: of a person, the one that was asked about, where it was a host. `script`: what the person was shown,
 * where it is code that may make up hosts which are not in it.
 */
export type Leave = { by: 'entry' } | { by: 'person'; host: string | null; script?: string | null } | null;

/** `stop` ends the tool: what it does from here on is thrown away. */
export function guard(given: Parts, leave: Leave, stop: (ask: Ask) => void): AskFirst {
  const reasons = new Set<string>();
  const denied = (): readonly string[] => [...reasons];
  let sent: string | null = null;
  const parts: Parts = {
    ...given,
    async send(request, onHop) {
      let passed = false;
      try {
        return await given.send(request, (to, hop) => {
          onHop?.(to, hop);
          passed = true;
        });
      } finally {
        // After its redirects, which have a rule of their own.
        const reads = request.method === 'GET' || request.method === 'HEAD';
        if (passed && !reads) sent ??= `${request.method} ${requestHost(request.url) ?? request.url}`;
      }
    },
    judge(effect) {
      const judged = leave === null ? onceOnly(given.judge(effect), sent, given.called?.() ?? null) : given.judge(effect);
      if (judged.verdict === 'deny' && reasons.size < maxToldDenials) reasons.add(judged.reason);
      return judged;
    },
  };
  if (leave === null) return { ...askFirst(parts, stop), denied };
  const { context, send, judge, ruled } = parts;
  const files = ruled ? filesThatAsk(context.files, parts, withoutAsking, () => undefined) : context.files;
  const registry = ruled ? registryThatAsks(parts, withoutAsking, () => undefined) : {};
  switch (leave.by) {
    case 'person':
      return { context: { ...context, ...registry, files, fetch: fetchApproved(parts, leave) }, asked: () => null, denied };
    case 'entry': {
      const fetch: ToolContext['fetch'] = (request) =>
        send(request, (to) => {
          const judged = judge(networkEffect(request, to));
          if (judged.verdict === 'deny') throw forbidden(judged);
        });
      return { context: ruled ? { ...context, ...registry, files, fetch } : context, asked: () => null, denied };
    }
    default:
      return leave satisfies never;
  }
}

const maxToldDenials = 5;

/** Whoever asks is run again from its beginning: what it has sent or called would be so twice, so from there on nothing is asked for any more. */
function onceOnly(judged: Judgement, sent: string | null, called: string | null): Judgement {
  if (judged.ask === null || (sent === null && called === null)) return judged;
  const what = sent === null ? `called ${called}` : `sent ${sent}`;
  const reason = `${judged.reason}. That needs approval, which cannot be asked for once this call has ${what}: do it before that, or in a call of its own`;
  return { ...judged, verdict: 'deny', ask: null, reason };
}

function askFirst(parts: Parts, stop: (ask: Ask) => void): Omit<AskFirst, 'denied'> {
  const { context, send, judge } = parts;
  let first: Ask | null = null;
  const need = (ask: Ask): void => {
    first ??= ask;
    stop(first);
  };
  return {
    asked: () => first,
    context: {
      ...context,
      ...registryThatAsks(parts, (judged) => judged, need),
      files: filesThatAsk(
        context.files,
        parts,
        (judged) => judged,
        need,
        () => first === null,
      ),
      fetch: (request) =>
        send(request, (to, hop) => {
          const judged = judge(networkEffect(request, to));
          if (judged.verdict === 'deny') throw forbidden(judged);
          if (judged.ask === null) return;
          // Reading may begin anew once it is approved. Anything else has had its effect by the time it is led away.
          if (hop > 0 && request.method !== 'GET' && request.method !== 'HEAD') throw ledAway(request, to, judged.ask);
          need(judged.ask);
          throw new Problem('forbidden', `${judged.ask.reason}: it needs approval.`);
        }),
    },
  };
}

/** Secrets and toolsets. `heed`: as below. */
function registryThatAsks(
  { context, judge, inTurn }: Parts,
  heed: (judged: Judgement) => Judgement,
  need: (ask: Ask) => void,
): Pick<ToolContext, 'secret' | 'configuration' | 'maker'> {
  const check: Check = (effect, { ruled } = { ruled: false }) => {
    const judged = heed(judge(effect));
    if (judged.verdict === 'deny') throw new Problem('forbidden', `Not done: ${judged.reason}.`);
    if (judged.ask === null || (ruled && judged.rule === null)) return;
    need(judged.ask);
    throw new Problem('forbidden', `${judged.ask.reason}: it needs approval.`);
  };
  const { secret, configuration, maker } = context;
  return {
    secret: guardSecret(secret, check),
    configuration: configuration === null ? null : guardDesk(configuration, check, inTurn),
    maker: maker === null ? null : guardMaker(maker, check, inTurn),
  };
}

/** `heed`: what becomes of a judgement where leave was given. */
function filesThatAsk(
  files: FileSystem,
  { context, judge, ruled }: Parts,
  heed: (judged: Judgement) => Judgement,
  need: (ask: Ask) => void,
  mayCommit: () => boolean = () => true,
): FileSystem {
  const refuseDenied = (path: string, judged: Judgement): void => {
    if (judged.verdict === 'deny') throw new FileError('EPERM', path, `${path}: not done. ${judged.reason}.`);
  };
  return guardFiles(files, {
    deep: ruled,
    mayCommit,
    ...(ruled && { read: (path) => readThatAsks(path) }),
    change(path, effects) {
      // Nobody is asked about what is refused all the same: whatever comes after the call, and what may only be read.
      refuseLate(path, context.signal);
      if (files.isReadOnly?.(path) === true) return;
      let ask: Ask | null = null;
      let deleted = 0;
      for (const effect of effects()) {
        const judged = heed(judge(effect));
        refuseDenied(path, judged);
        ask ??= judged.ask;
        if (effect.kind === 'delete-file') deleted += 1;
      }
      if (ask === null) return;
      need(aboutFolder(ask, path, deleted));
      throw new FileError('EPERM', path, `${ask.reason}: it needs approval.`);
    },
  });

  function readThatAsks(path: string): void {
    const judged = heed(judge({ kind: 'read-file', path }));
    refuseDenied(path, judged);
    if (judged.ask === null) return;
    need(judged.ask);
    throw new FileError('EPERM', path, `${judged.ask.reason}: it needs approval.`);
  }
}

/** A folder is one question, and one answer to remember, whatever lies in it. */
function aboutFolder(ask: Ask, path: string, deleted: number): Ask {
  if (ask.kind !== 'delete-file' || ask.target === path) return ask;
  const files = deleted === 1 ? 'the file' : `the ${deleted} files`;
  return { ...ask, reason: `It deletes ${files} in ${path}, which cannot be undone`, target: path };
}

function networkEffect(request: Request, to: URL): Effect {
  return { kind: 'network', host: requestHost(to.href) ?? to.host, method: request.method };
}

/**
 * A person saw the arguments, and of the hosts one: where that one leads was not shown, and cannot be asked for within the
 * same call again. `asked`: the host that the question named, which a server may since lead away from; null: the question was
 * about something else, so what was shown is the first request's own host; of a script, if it stands there.
 */
function fetchApproved({ send, judge }: Parts, { host: asked, script = null }: Extract<Leave, { by: 'person' }>): ToolContext['fetch'] {
  let approved = asked;
  return (request) =>
    send(request, (to, hop) => {
      const effect = networkEffect(request, to);
      const host = requestHost(to.href) ?? to.host;
      if (hop === 0 && (script === null || isNamed(host, script))) approved ??= host;
      const judged = judge(effect);
      if (judged.verdict === 'deny') throw forbidden(judged);
      if (host !== approved && judged.ask !== null) throw ledAway(request, to, judged.ask);
    });
}

/** As a whole: `b.example` does not stand in `ab.example.com`. */
function isNamed(host: string, script: string): boolean {
  const names = script.toLowerCase().match(/[a-z\d.-]+(?::\d+)?/g) ?? [];
  return names.some((name) => name === host || name.replace(/:(?:80|443)$/, '').replace(/\.+$/, '') === host);
}

function forbidden({ reason }: Judgement): Problem {
  return new Problem('forbidden', `Not sent: ${reason}.`);
}

function ledAway(request: Request, to: URL, ask: Ask): Problem {
  const from = requestHost(request.url) ?? request.url;
  const why = ask.kind === 'network' ? 'which is new to this workspace' : 'which needs approval';
  if (from === requestHost(to.href)) {
    const reason = `The ${request.method} to ${to.host}, ${why}, was not sent: what was approved does not name it. Request it separately if that is right.`;
    return new Problem('forbidden', reason, { retryable: false });
  }
  const detail =
    `The ${request.method} to ${from} leads to ${to.host}, ${why}, and was not followed there. ` +
    `Request ${to.href} separately if that is right.`;
  return new Problem('upstream_error', detail, { retryable: false });
}

/** Files that take nothing any more once the call is over: a tool that did not listen to its signal must not write later. */
export function untilOver(files: FileSystem, signal: AbortSignal): FileSystem {
  return guardFiles(files, {
    deep: false,
    mayCommit: () => !signal.aborted,
    change(path) {
      refuseLate(path, signal);
    },
  });
}

function refuseLate(path: string, signal: AbortSignal): void {
  if (signal.aborted) throw new FileError('EPERM', path, `${path} was not written: the call has ended.`);
}
