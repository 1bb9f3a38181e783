/** What happened in a session: its turns as bars, the details of each call, the log as a file, and its deletion. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { SessionEvent } from '../../../../client/src/index.ts';
import { useAttempt, useEvery, useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { Facts, StateBadge, Time, Empty } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { saveAs } from '../../parts/documents/save-as.ts';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { TimelineView } from '../../parts/records/timeline-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { navigate, pathOf } from '../../router.ts';
import { type Call, emptyConversation, foldEvent, partsText, type TurnRecord, turnStatus } from '../../session/fold-events.ts';
import { exportLog, readEarlier, readSession, type SessionLog } from '../../session/session-log.ts';
import { count, duration } from '../../text/format.ts';
import { removeRecentChat } from '../console/recent-chats.tsx';

const pollMs = 5_000;

export function SessionDetail({ id }: { id: string }) {
  const known = useRef<readonly SessionEvent[]>([]);
  const { data, error, reload } = useLoaded(async (signal) => {
    const log = await readSession(id, known.current, signal);
    known.current = log.events;
    return log;
  });
  const status = data?.view.turn?.status;
  const isOpen = status === 'running' || status === 'waiting' || status === 'queued';
  useEvery(pollMs, isOpen, reload);
  if (data === null)
    return (
      <div class="view wide">
        {error === null ? <p class="muted">Loading…</p> : <ProblemView error={error} retry={() => void reload()} />}
      </div>
    );
  const loadEarlier = async (): Promise<void> => {
    const events = await readEarlier(id, known.current, new AbortController().signal);
    known.current = events;
    await reload();
  };
  return (
    <div class="view wide">
      <Head id={id} log={data} />
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      <Turns id={id} log={data} onEarlier={loadEarlier} />
    </div>
  );
}

function Head({ id, log: { view, events } }: { id: string; log: SessionLog }) {
  const { problem, attempt } = useAttempt();
  const exported = useSignal<number | null>(null);
  const work = useRef<AbortController | null>(null);
  useEffect(() => () => work.current?.abort(), []);
  const download = async (): Promise<void> => {
    const own = new AbortController();
    work.current = own;
    problem.value = null;
    exported.value = 0;
    try {
      // The browser can keep the contents of blobs on disk: a log may be large.
      const pages: Blob[] = [];
      for await (const page of exportLog(id, own.signal)) {
        pages.push(new Blob([page]));
        exported.value += page.split('\n').length - 1;
      }
      saveAs(new Blob(pages, { type: 'application/jsonl' }), `session-${id.slice(0, 12)}.jsonl`);
      announce(`${exported.value} events exported`);
    } catch (error) {
      if (!own.signal.aborted) problem.value = error;
    } finally {
      exported.value = null;
    }
  };
  const remove = () =>
    attempt(async () => {
      await moniker.value.delete('/v1/sessions/{id}', { params: { path: { id } } });
      removeRecentChat(id);
      announce('The session is deleted');
      navigate(pathOf('sessions'));
    });
  const { title, turn, agent, model, toolset, createdAt, lastActivityAt, usage, lastEvent, queued } = view;
  return (
    <>
      <header class="head">
        <h1>
          <a href={pathOf('sessions')}>Sessions</a> / {visible(title ?? id.slice(0, 12))}
        </h1>
        <span class="grow" />
        <div class="actions">
          <a class="button" href={pathOf('chat', id)}>
            Open the chat
          </a>
          <a class="button" href={pathOf('replays', 'new', { session: id })}>
            Replay
          </a>
          <button type="button" disabled={exported.value !== null} onClick={() => void download()}>
            {exported.value === null ? 'Export as JSONL' : `Exported ${count(exported.value)} of ${count(lastEvent)}…`}
          </button>
          <ConfirmButton label="Delete" question="Delete the session with its files?" onConfirm={() => void remove()} />
        </div>
      </header>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <Facts
        rows={[
          ['Status', <StateBadge key="status" state={turn?.status ?? 'idle'} />],
          ['With', visible(agent === undefined ? (model ?? '') : `agent/${agent}`)],
          ['Toolset', toolset === null ? null : visible(toolset)],
          ['Created', <Time key="created" iso={createdAt} exact />],
          ['Last activity', <Time key="active" iso={lastActivityAt} />],
          ['Tokens', `${count(usage.inputTokens)} of input, ${count(usage.outputTokens)} of output`],
          ['Events', `${count(lastEvent)}${events.length < lastEvent ? `, the newest ${count(events.length)} loaded` : ''}`],
          ['Queued turns', queued === 0 ? null : count(queued)],
          ['Id', <code key="id">{id}</code>],
        ]}
      />
    </>
  );
}

function Turns({ id, log: { events }, onEarlier }: { id: string; log: SessionLog; onEarlier(): Promise<void> }) {
  const isLoading = useSignal(false);
  const picked = useSignal<Call | null>(null);
  const conversation = useMemo(() => {
    const folded = emptyConversation();
    for (const event of events) foldEvent(folded, event);
    return folded;
  }, [events]);
  const hasEarlier = events.length > 0 && events[0]?.id !== 1;
  if (conversation.turns.length === 0 && !hasEarlier)
    return (
      <Empty title="No turn ran in this session yet">
        <a href={pathOf('chat', id)}>Send a message in its chat</a>
      </Empty>
    );
  return (
    <section class="turns" aria-label="Timeline">
      <h2>Timeline</h2>
      <TimelineView
        turns={conversation.turns}
        now={Math.max(Date.now(), events.at(-1)?.at ?? 0)}
        about={aboutTurn}
        onPick={(call) => (picked.value = call)}
      />
      {hasEarlier && (
        <p class="more">
          <button
            type="button"
            disabled={isLoading.value}
            onClick={async () => {
              isLoading.value = true;
              // An error is shown by the next reading of the session.
              await onEarlier().catch(() => undefined);
              isLoading.value = false;
            }}
          >
            Show earlier turns
          </button>
        </p>
      )}
      {picked.value !== null && <CallSheet call={picked.value} onClose={() => (picked.value = null)} />}
    </section>
  );
}

function aboutTurn(turn: TurnRecord) {
  const { startAt, endAt, model, notes, problem, tokens } = turn;
  return (
    <span class="about">
      <StateBadge state={turnStatus(turn)} />
      <span>{new Date(startAt).toLocaleString()}</span>
      <span>{visible(model)}</span>
      {endAt !== null && <span>{duration(endAt - startAt)} in all</span>}
      {tokens !== null && <span>{`${count(tokens.input)} → ${count(tokens.output)} tokens`}</span>}
      {notes.map((note, index) => (
        <span key={index} class="badge warn">
          {visible(note)}
        </span>
      ))}
      {problem !== null && <span class="error">{visible(`${problem.title}: ${problem.detail}`)}</span>}
    </span>
  );
}

/** Longer text is in the chat and in the export. */
const maxTextLength = 20_000;

/** A call as the log has it: names, arguments, times, decision and result. */
function CallSheet({ call, onClose }: { call: Call; onClose(): void }) {
  const { name, canonical, via, state, decision, code, segments, arguments: given, argumentText, result, callId } = call;
  const total = (kind: 'run' | 'wait') =>
    segments.reduce((ms, segment) => ms + (segment.kind === kind ? (segment.to ?? Date.now()) - segment.from : 0), 0);
  const text = result === null ? null : partsText(result);
  return (
    <Sheet title={<code>{visible(name)}</code>} onClose={onClose}>
      <Facts
        rows={[
          ['State', <StateBadge key="state" state={state} />],
          ['Tool', canonical === null ? null : <code key="tool">{visible(canonical)}</code>],
          ['Found by', via],
          ['Code', code === null ? null : <code key="code">{visible(code)}</code>],
          [
            'Decision',
            decision === null ? null : visible([decision.decision, 'by', decision.by, decision.reason].filter(Boolean).join(' ')),
          ],
          ['Run time', duration(total('run'))],
          ['Waited', total('wait') === 0 ? null : duration(total('wait'))],
          ['Call', <code key="id">{visible(callId)}</code>],
        ]}
      />
      <h3>Arguments</h3>
      <pre class="file">{visible((given === null ? argumentText : JSON.stringify(given, null, 2)).slice(0, maxTextLength))}</pre>
      <h3>Result</h3>
      {text === null ? <p class="muted">None yet.</p> : <pre class="file">{visible(text.slice(0, maxTextLength))}</pre>}
    </Sheet>
  );
}
