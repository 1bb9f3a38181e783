/**
 * The stream on which the client of a session of the 2025 revisions listens (GET). The Worker holds it and watches for changes, so that the
 * object of the session sleeps meanwhile: it is asked when the stream opens, and then every `sessionCheckMs`, whether the session still
 * exists and to which resources its client has subscribed. Event ids contain the version of the lists, so a client that reconnects is
 * notified of a change that it missed, without stored messages.
 */
import { limits } from '../../core/limits/limits.ts';
import { heartbeatFrame } from '../../dialects/native.ts';
import { readView, type ServedView } from '../../engine/mcp/serve-view.ts';
import type { OpenReports } from '../../engine/mcp/open-reports.ts';
import { mcpWatchIntervalMs, type ServedChange, watchServed } from '../../engine/mcp/serve-watch.ts';
import type { ListenMode, ListenState, McpSessions } from '../../ports/mcp-sessions.ts';
import { hasOffers } from './discovery.ts';
import type { ServedRequest, ServeDeps } from './exchange.ts';
import { notificationText } from './messages.ts';
import { logLevels, sessionRevision } from './revisions.ts';
import { unknownMcpSession } from './rpc-fault.ts';
import { eventsResponse, messageEvent, primingEvent, refuseInSession, refusedRevision } from './session-responses.ts';

/** The time after which a stream notices that its session was deleted, or a subscription that was made in another isolate. */
const sessionCheckMs = 60_000;

export type SessionListener = ServedRequest & { session: string };

/** Open streams of this isolate, by session: true once a request has changed what the stream depends on. */
const changedSessions = new Map<string, boolean>();

/** Makes the stream of the session, if this isolate has it, ask the session soon. */
export function noteSessionChange(session: string): void {
  if (changedSessions.has(session)) changedSessions.set(session, true);
}

/** The name of the stream, the number of the event, and the version of the lists. Ids of events of other streams are numbers. */
const eventIdForm = /^(listen[0-9a-f]{16})-(\d{1,9})-([\w-]{1,64})$/;

/** True for a request to listen; false for one that resumes the stream of a request. */
export function isListening({ headers }: Request): boolean {
  const last = headers.get('last-event-id');
  return last === null || eventIdForm.test(last);
}

export async function listenInSession(deps: ServeDeps, sessions: McpSessions, listener: SessionListener): Promise<Response> {
  const { principal, target, session, request } = listener;
  const { headers } = request;
  if (headers.get('accept')?.includes('text/event-stream') !== true)
    return refuseInSession(406, 'Not Acceptable: Client must accept text/event-stream');
  const revision = sessionRevision(headers.get('mcp-protocol-version'));
  if (revision === null) return refusedRevision(headers) ?? unknownMcpSession();
  const stream = `listen${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}`;
  const ask = (mode: ListenMode) => sessions.listen(principal, target, session, { stream, mode });
  const known = eventIdForm.exec(headers.get('last-event-id') ?? '')?.[3];
  const opened = await ask(known === undefined ? 'open' : 'resume');
  if (opened === null) return unknownMcpSession();
  if (opened === 'conflict') return refuseInSession(409, 'Conflict: Only one SSE stream is allowed per session');
  const watch: Watch = { deps, listener, state: opened, known: known ?? listVersion(listener.view), ask };
  return eventsResponse(openStream(watch, revision, stream), session);
}

type Watch = {
  deps: ServeDeps;
  listener: SessionListener;
  state: ListenState;
  /** The version of the lists of which the client was notified last. */
  known: string;
  ask(mode: ListenMode): ReturnType<McpSessions['listen']>;
};

function openStream(watch: Watch, revision: string, stream: string): ReadableStream<Uint8Array> {
  const { deps, listener, ask } = watch;
  const { request } = listener;
  const end = new AbortController();
  const leave = (): void => end.abort(new Error('the client has disconnected'));
  request.signal.addEventListener('abort', leave, { once: true });
  const encoder = new TextEncoder();
  let number = 0;
  const nextId = (): string => `${stream}-${number++}-${watch.known}`;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string): void => {
        if (text !== '' && !end.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      write(primingEvent(revision, nextId));
      const beat = setInterval(() => write(heartbeatFrame), limits.heartbeatMs);
      const notify = (change: ServedChange): void => {
        const notification = toNotification(change, hasOffers(listener.target, listener.view));
        if (notification !== null) write(messageEvent(nextId(), notification));
      };
      const report = (method: string, params: object): void => write(messageEvent(nextId(), notificationText(method, params)));
      const run = async (): Promise<void> => {
        try {
          await watchSession(watch, notify, report, end.signal);
        } catch (error) {
          deps.log.debug('a session cannot watch for changes', { cause: String(error) });
        }
        clearInterval(beat);
        request.signal.removeEventListener('abort', leave);
        if (!end.signal.aborted) controller.close();
        await ask('close').catch(() => {
          // The session then learns it from the next stream, or when this one is overdue.
        });
      };
      deps.background(run());
    },
    cancel: leave,
  });
}

/** Watches until the stream reaches its time limit, its client disconnects, or its session or key ends. Each round watches one version of the lists. */
async function watchSession(watch: Watch, notify: (change: ServedChange) => void, report: Report, signal: AbortSignal): Promise<void> {
  const { deps, listener } = watch;
  const { principal, target, session } = listener;
  const endsAt = deps.clock.now() + limits.mcpStreamMs;
  changedSessions.set(session, false);
  try {
    for (;;) {
      const version = listVersion(listener.view);
      if (version !== watch.known) {
        watch.known = version;
        notify({ kind: 'tools' });
        // The new edition may have other servers.
        notify({ kind: 'prompts' });
        notify({ kind: 'resources' });
      }
      if (!(await watchRound(watch, notify, report, endsAt, signal))) return;
      listener.view = await readView(deps, principal, target);
    }
  } catch (error) {
    // The toolset cannot be read. What happened to it is reported when its list is requested.
    notify({ kind: 'tools' });
    throw error;
  } finally {
    changedSessions.delete(session);
  }
}

/** Returns false when the stream is over; true when the lists or the subscriptions have changed. */
async function watchRound(
  watch: Watch,
  notify: (change: ServedChange) => void,
  report: Report,
  endsAt: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { deps, listener } = watch;
  const { principal, target, session, view } = listener;
  const { subscriptions } = watch.state;
  const round = new AbortController();
  const end = (): void => round.abort(new Error('the round has ended'));
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  let isOver = true;
  const onChange = (change: ServedChange): void => {
    if (round.signal.aborted) return;
    if (change.kind === 'tools') {
      isOver = false;
      end();
    } else notify(change);
  };
  const reports = reportsTo(report, watch.state);
  const watched = { principal, target, view, conversation: session, lists: true, subscriptions, reports };
  const checking = checkSession(watch, endsAt, round.signal).then((hasChanged) => {
    if (hasChanged) isOver = false;
  });
  const watching = watchServed(deps, watched, onChange, round.signal);
  try {
    await Promise.race([watching, checking]);
    end();
    await Promise.all([watching, checking]);
  } finally {
    end();
    signal.removeEventListener('abort', end);
  }
  const before = new Set(subscriptions.map(({ uri }) => uri));
  for (const { uri } of watch.state.subscriptions) if (!before.has(uri)) notify({ kind: 'resource', uri });
  return !isOver && !signal.aborted;
}

/** Returns true once the subscriptions or the level of log messages have changed, and false once the session has ended, another stream has its place, or `signal` aborts. */
async function checkSession(watch: Watch, endsAt: number, signal: AbortSignal): Promise<boolean> {
  const { deps, listener, ask, state } = watch;
  const { clock, log } = deps;
  for (let checkAt = clock.now() + sessionCheckMs; clock.now() < endsAt; ) {
    try {
      await clock.sleep(mcpWatchIntervalMs, signal);
    } catch {
      // The round has ended.
      return false;
    }
    if (changedSessions.get(listener.session) !== true && clock.now() < checkAt) continue;
    changedSessions.set(listener.session, false);
    checkAt = clock.now() + sessionCheckMs;
    try {
      const now = await ask('renew');
      if (now === null || now === 'conflict') return false;
      if (JSON.stringify(now) === JSON.stringify(state)) continue;
      watch.state = now;
      return true;
    } catch (error) {
      log.debug('a session could not be checked', { cause: String(error) });
    }
  }
  return false;
}

type Report = (method: string, params: object) => void;

/** What servers report outside of calls, at the level that the client has set. */
function reportsTo(report: Report, { logLevel }: ListenState): OpenReports {
  const wanted = logLevel === null ? 0 : logLevels.indexOf(logLevel);
  return {
    ...(logLevel !== null && { logLevel }),
    notice: (notice) => {
      if (logLevels.indexOf(notice.level) >= wanted) report('notifications/message', notice);
    },
    elicitationComplete: (elicitationId) => report('notifications/elicitation/complete', { elicitationId }),
  };
}

/** As part of an event id. */
function listVersion({ pointer, mode }: ServedView): string {
  return [pointer?.hash.replaceAll(/\W/g, '').slice(0, 16) ?? 'none', pointer?.version ?? 0, mode ?? 'toolset'].join('_');
}

function toNotification(change: ServedChange, offers: boolean): string | null {
  if (change.kind === 'resource') return notificationText('notifications/resources/updated', { uri: change.uri });
  if (change.kind !== 'tools' && !offers) return null;
  return notificationText(`notifications/${change.kind}/list_changed`);
}
