/**
 * A session in this tab: its conversation, kept current by one stream while a turn runs and the tab is visible. A session that waits is
 * looked at every few seconds instead, so that many tabs do not use up the connections of the browser (six for each host over HTTP/1.1).
 */
import { signal } from '@preact/signals';
import { followEvents, type components } from '../../../client/src/index.ts';
import { hideQuestions } from '../api/inbox.ts';
import { moniker } from '../api/moniker.ts';
import { foldEvent, type Call, type Conversation, emptyConversation, isIdle, turnStatus } from './fold-events.ts';

type SessionView = components['schemas']['Session'];
type Answers = Record<string, components['schemas']['ElicitationAnswer']>;

/** A settled stream is closed when nothing has arrived for this long. */
const quietMs = 400;
const waitingPollMs = 5_000;
/** Changes are shown together: many deltas arrive within one frame. */
const renderMs = 16;

export type ChatSession = ReturnType<typeof openChatSession>;

export function openChatSession(id: string) {
  const conversation: Conversation = emptyConversation();
  const version = signal(0);
  const view = signal<SessionView | null>(null);
  const isLive = signal(false);
  const problem = signal<unknown>(null);
  /** The input that is being sent, until its turn starts. */
  const outgoing = signal<string | null>(null);
  let stream: AbortController | null = null;
  let isClosed = false;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let isRendering = false;
  const path = { id };

  const render = (): void => {
    if (isRendering) return;
    isRendering = true;
    setTimeout(() => {
      isRendering = false;
      version.value += 1;
    }, renderMs);
  };

  /** Reads events until the session is settled, quiet, and has no newer turn. `expected`: a turn that was just submitted. */
  async function follow(expected?: string): Promise<void> {
    if (stream !== null || isClosed || document.hidden) return;
    clearTimeout(pollTimer);
    const own = new AbortController();
    stream = own;
    try {
      let newest = expected;
      while (!own.signal.aborted) {
        if (newest === undefined) {
          view.value = await moniker.value.get('/v1/sessions/{id}', { params: { path }, signal: own.signal });
          if (isCurrent(view.value)) break;
        }
        await readUntilQuiet(own.signal, newest !== undefined || view.value?.turn?.status === 'running');
        newest = undefined;
      }
      problem.value = null;
    } catch (error) {
      if (!own.signal.aborted) problem.value = error;
    } finally {
      if (stream === own) stream = null;
      isLive.value = false;
      render();
      schedulePoll();
    }
  }

  function isCurrent({ turn, queued, lastEvent }: SessionView): boolean {
    const known = conversation.turns.at(-1);
    // A fork has events before its first turn.
    if (turn === null) return conversation.last >= lastEvent;
    if (known === undefined || known.id !== turn.id || queued > 0) return false;
    return known.endAt !== null ? turn.status !== 'running' : turn.status === 'waiting' && isIdle(conversation);
  }

  async function readUntilQuiet(signal: AbortSignal, isRunning: boolean): Promise<void> {
    const quiet = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const arm = (): void => {
      clearTimeout(timer);
      if (isIdle(conversation)) timer = setTimeout(() => quiet.abort(), quietMs);
    };
    isLive.value = isRunning;
    if (!isRunning) arm();
    try {
      for await (const event of followEvents(moniker.value, id, {
        after: conversation.last,
        signal: AbortSignal.any([signal, quiet.signal]),
      })) {
        foldEvent(conversation, event);
        if (event.type === 'turn-start') outgoing.value = null;
        isLive.value = !isIdle(conversation);
        render();
        arm();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  function schedulePoll(): void {
    const turn = conversation.turns.at(-1);
    if (isClosed || document.hidden || turn === undefined || turnStatus(turn) !== 'waiting') return;
    clearTimeout(pollTimer);
    pollTimer = setTimeout(() => void follow(), waitingPollMs);
  }

  function pause(): void {
    clearTimeout(pollTimer);
    stream?.abort();
    stream = null;
  }

  /** Runs a request, then reads what it caused. Rejects with the error of the request. */
  async function act(send: () => Promise<{ turn?: string | null }>): Promise<void> {
    const { turn } = await send();
    pause();
    void follow(turn ?? undefined);
  }

  /** As `act`, for what a call waits for. */
  async function answer(callId: string, send: () => Promise<{ turn?: string | null }>): Promise<void> {
    await act(send);
    void hideQuestions(id, callId);
  }

  return {
    id,
    openedAt: Date.now(),
    conversation,
    version,
    view,
    isLive,
    problem,
    outgoing,
    follow,
    pause,
    close(): void {
      isClosed = true;
      pause();
    },
    /** `prompt`: a prompt of an MCP server, which the input is the name of. */
    async submit(input: string, prompt?: components['schemas']['TurnPrompt']): Promise<void> {
      outgoing.value = input;
      try {
        await act(async () => {
          const accepted = await moniker.value.post('/v1/sessions/{id}/turns', {
            params: { path, header: { prefer: 'respond-async' } },
            body: prompt === undefined ? { input } : { prompt },
          });
          return { turn: accepted.turn };
        });
      } catch (error) {
        outgoing.value = null;
        throw error;
      }
    },
    decide: ({ callId, question }: Call, decided: Pick<components['schemas']['DecisionRequest'], 'decision' | 'reason' | 'remember'>) =>
      answer(callId, () => {
        const round = question?.type === 'approval-required' && { round: question.round };
        const body = { ...decided, ...round };
        return moniker.value.post('/v1/sessions/{id}/approvals/{callId}', { params: { path: { ...path, callId } }, body });
      }),
    sendResult: ({ callId }: Call, content: string, isError: boolean) =>
      answer(callId, () => moniker.value.post('/v1/sessions/{id}/tool-results', { params: { path }, body: { callId, content, isError } })),
    sendInput: ({ callId, question }: Call, input: Answers) =>
      answer(callId, () => {
        const round = question?.type === 'input-required' && { round: question.round };
        return moniker.value.post('/v1/sessions/{id}/tool-results', { params: { path }, body: { callId, input, ...round } });
      }),
    cancel: () =>
      act(async () => {
        await moniker.value.post('/v1/sessions/{id}/cancel', { params: { path } });
        return {};
      }),
  };
}
