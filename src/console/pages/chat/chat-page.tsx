/** `/console/chat/{id?}`: a conversation with an agent or a model, and an inspector of what happened in it. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { moniker } from '../../api/moniker.ts';
import { useListeners } from '../../parts/layout/use-listeners.ts';
import { announce } from '../../api/announce.ts';
import { late } from '../../parts/layout/late.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { navigate, pathOf, type ViewProps } from '../../router.ts';
import { type ChatSession, openChatSession } from '../../session/chat-session.ts';
import { turnStatus, waitingCalls } from '../../session/fold-events.ts';
import { chatTitles, setTitle } from '../console/recent-chats.tsx';
import { Composer } from './composer.tsx';
import { Inspector } from './inspector.tsx';
import { chosenSetup, Picker } from './picker.tsx';
import { TurnView } from './turn-view.tsx';

const PromptPicker = late(async () => (await import('./prompt-picker.tsx')).PromptPicker);

/** Kept while other views are open, so that a chat is there at once when its view is opened again. */
const current = signal<ChatSession | null>(null);

export function ChatPage({ id }: ViewProps) {
  const problem = useSignal<unknown>(null);
  const wantsInspector = useSignal(matchMedia('(min-width: 1200px)').matches);
  const isPicking = useSignal(false);
  useEffect(() => {
    problem.value = null;
    if (current.value?.id !== (id ?? undefined)) {
      current.value?.close();
      current.value = id === null ? null : openChatSession(id);
    }
    void current.value?.follow();
    const session = current.value;
    return () => session?.pause();
  }, [id]);
  useVisibility();
  const session = current.value?.id === id ? current.value : null;
  useAnnouncements(session);
  const isInspecting = session !== null && wantsInspector.value;
  const act = async (work: () => Promise<unknown>): Promise<boolean> => {
    problem.value = null;
    try {
      await work();
      return true;
    } catch (error) {
      problem.value = error;
      return false;
    }
  };
  const begin = async (title: string): Promise<ChatSession> => {
    if (current.value !== null) return current.value;
    const { id: created } = await moniker.value.post('/v1/sessions', { body: chosenSetup() });
    const target = openChatSession(created);
    current.value = target;
    setTitle(created, title);
    navigate(pathOf('chat', created));
    return target;
  };
  const send = (text: string) => act(async () => await (await begin(text)).submit(text));
  const pick = () =>
    act(async () => {
      await begin('Prompts');
      isPicking.value = true;
    });
  const fork = (turn: string) =>
    act(async () => {
      if (session === null) return;
      const { id: created } = await moniker.value.post('/v1/sessions', { body: { from: { session: session.id, turn } } });
      setTitle(created, chatTitles.value.get(session.id) ?? '');
      announce('Forked: this chat continues the other one');
      navigate(pathOf('chat', created));
    });
  return (
    <div class={isInspecting ? 'chat inspecting' : 'chat'}>
      <section class="conversation" aria-label="Conversation">
        <header class="bar">
          <h1>Chat</h1>
          <Picker session={session} />
          <span class="grow" />
          {id !== null && (
            <a class="button" href={pathOf('chat')}>
              New chat
            </a>
          )}
          {session !== null && (
            <button type="button" aria-pressed={isInspecting} onClick={() => (wantsInspector.value = !wantsInspector.value)}>
              Inspector
            </button>
          )}
        </header>
        {session === null && id === null ? (
          <div class="scroll">
            <Examples onPick={send} />
            {problem.value !== null && <ProblemView error={problem.value} />}
          </div>
        ) : (
          session !== null && <Messages session={session} problem={problem.value} act={act} onFork={(turn) => void fork(turn)} />
        )}
        <Composer
          key={id ?? 'new'}
          draft={id ?? 'new'}
          session={session}
          onSend={send}
          onStop={() => act(async () => await session?.cancel())}
          onPrompts={pick}
        />
        {isPicking.value && session !== null && <PromptPicker session={session} onClose={() => (isPicking.value = false)} />}
      </section>
      {isInspecting && <Inspector session={session} onClose={() => (wantsInspector.value = false)} />}
    </div>
  );
}

type MessagesProps = {
  session: ChatSession;
  problem: unknown;
  act(work: () => Promise<unknown>): Promise<boolean>;
  onFork(turn: string): void;
};

function Messages({ session, problem, act, onFork }: MessagesProps) {
  const box = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const lastTop = useRef(0);
  const revision = session.version.value;
  const outgoing = session.outgoing.value;
  useEffect(() => {
    // Who sends a message wants to see what becomes of it.
    if (outgoing !== null) isAtEnd.current = true;
    if (isAtEnd.current) box.current?.scrollTo(0, box.current.scrollHeight);
  }, [revision, outgoing, problem]);
  const { history, turns } = session.conversation;
  const newest = turns.at(-1);
  const from = session.view.value?.from;
  const loadProblem = session.problem.value;
  return (
    <section
      class="scroll"
      ref={box}
      aria-label="Messages"
      aria-busy={session.isLive.value}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        // Content that grows also moves the end away: only scrolling up is the user's wish to stay.
        if (scrollTop < lastTop.current) isAtEnd.current = false;
        if (scrollHeight - scrollTop - clientHeight < 40) isAtEnd.current = true;
        lastTop.current = scrollTop;
      }}
    >
      {from !== undefined && (
        <p class="muted">
          Forked from <a href={pathOf('chat', from.session)}>{visible(chatTitles.value.get(from.session) ?? 'another chat')}</a>
        </p>
      )}
      {history.length > 0 && (
        <details class="earlier" open={from !== undefined}>
          <summary>Continues another chat: {history.length} earlier messages</summary>
          {history.map(({ role, text }, index) => (
            <p key={index}>
              <strong>{role}</strong> {visible(text)}
            </p>
          ))}
        </details>
      )}
      {turns.map((turn) => (
        <TurnView key={turn.id} session={session} turn={turn} revision={turn.revision} act={act} onFork={onFork} />
      ))}
      {outgoing !== null && <p class="said pending">{visible(outgoing)}</p>}
      {turns.length === 0 && outgoing === null && loadProblem === null && session.view.value !== null && (
        <p class="muted nothing">Nothing was said here yet. Write a message below.</p>
      )}
      {newest !== undefined && loadProblem === null && problem === null && turnStatus(newest) === 'failed' && newest.problem === null && (
        <p class="muted">The turn failed. Send a message to continue.</p>
      )}
      {/* One at a time: without a network both fail, with the same text. */}
      {problem !== null && <ProblemView error={problem} />}
      {problem === null && loadProblem !== null && <ProblemView error={loadProblem} retry={() => void session.follow()} />}
    </section>
  );
}

/** A hidden tab holds no stream; one that is shown again catches up. */
function useVisibility(): void {
  const change = (): void => {
    if (document.hidden) current.value?.pause();
    else void current.value?.follow();
  };
  useListeners({ visibilitychange: change, online: () => void current.value?.follow() });
}

/** Tells screen readers what waits and how a turn ended, if it happened while the chat is open. */
function useAnnouncements(session: ChatSession | null): void {
  const turn = session === null || session.version.value < 0 ? undefined : session.conversation.turns.at(-1);
  const waiting = turn === undefined ? [] : waitingCalls(turn).map(({ name }) => name);
  const status = turn === undefined ? 'running' : turnStatus(turn);
  const text = status === 'waiting' ? `${waiting.join(', ')}: waiting for you` : `Turn ${status}`;
  const changedAt = session?.conversation.log.at(-1)?.at ?? 0;
  useEffect(() => {
    if (session !== null && status !== 'running' && changedAt >= session.openedAt) announce(text);
  }, [turn?.id, text]);
}

const examples: readonly { title: string; text: string; what: string }[] = [
  {
    title: 'Run a command',
    text: '/shell echo hello > note.txt && ls -l',
    what: 'See which tool the name “shell” is, and the file that it writes.',
  },
  { title: 'Two tools at once', text: '/shell date\n/ls path=/workspace', what: 'Both calls run in the same step.' },
  {
    title: 'Something that asks first',
    text: '/shell echo draft > old.txt\n\n/shell rm old.txt',
    what: 'Deleting a file waits until you approve it.',
  },
];

/** What an empty chat offers: three messages for the demo agent, whose model is built in and needs no key. */
function Examples({ onPick }: { onPick(text: string): void }) {
  return (
    <div class="examples">
      <h2>Talk to an agent that has tools</h2>
      <p class="muted">
        The demo agent uses the rehearsal model, a stand-in that works offline. It turns a line such as <code>/shell date</code> into a
        call.
      </p>
      <div class="cards">
        {examples.map(({ title, text, what }) => (
          <button key={title} type="button" onClick={() => onPick(text)}>
            <strong>{title}</strong>
            <code>{text.replaceAll(/\n+/g, ' ⏎ ')}</code>
            <span class="muted">{what}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
