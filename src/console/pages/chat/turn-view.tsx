/** One turn: what was said, the calls and texts of its steps, and how it ended. */
import { useRef } from 'preact/hooks';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { StateBadge } from '../../parts/records/records.tsx';
import { render, visible } from '../../parts/text/visible.ts';
import type { ChatSession } from '../../session/chat-session.ts';
import { type TurnRecord, turnStatus } from '../../session/fold-events.ts';
import { duration } from '../../text/format.ts';
import { markdownNodes, parseMarkdown, type ParsedMarkdown } from '../../text/markdown.ts';
import { CallCard } from './call-card.tsx';

type TurnProps = { session: ChatSession; turn: TurnRecord; revision: number; act(work: () => Promise<unknown>): Promise<boolean> };

export function TurnView({ session, turn, act, onFork }: TurnProps & { onFork(turn: string): void }) {
  const status = turnStatus(turn);
  const answer = turn.steps.flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []))).join('\n\n');
  return (
    <article class="turn" aria-label={`Turn with ${turn.model}`}>
      <p class="said">{visible(turn.input)}</p>
      {turn.steps.flatMap((step) =>
        step.blocks.map((block, index) => {
          const key = `${step.number} ${step.restarts} ${index}`;
          if (block.kind === 'call') return <CallCard key={block.call.callId} session={session} call={block.call} act={act} />;
          if (block.kind === 'text') return <Markdown key={key} text={block.text} />;
          return (
            <details key={key} class="reasoning">
              <summary>Reasoning</summary>
              <p>{visible(block.text)}</p>
            </details>
          );
        }),
      )}
      {turn.notes.map((note, index) => (
        <p key={index} class="note muted">
          {visible(note)}
        </p>
      ))}
      {turn.problem !== null && (
        <div class="problem">
          <h2>{turn.problem.title}</h2>
          <p>{visible(turn.problem.detail)}</p>
          <footer>
            <code>{turn.problem.code}</code>
          </footer>
        </div>
      )}
      <footer class="turn-end">
        <StateBadge state={status} />
        {turn.reason !== null && turn.reason !== 'stop' && <span>{turn.reason.replaceAll('_', ' ')}</span>}
        {turn.endAt !== null && <span>{duration(turn.endAt - turn.startAt)}</span>}
        {turn.tokens !== null && (
          <span>
            {turn.tokens.input} tokens in, {turn.tokens.output} out
          </span>
        )}
        {turn.endAt !== null && answer !== '' && <CopyButton text={answer} what="the answer" />}
        {turn.endAt !== null && (
          <button type="button" class="copy" title="Continue after this turn in another chat" onClick={() => onFork(turn.id)}>
            Fork
          </button>
        )}
      </footer>
    </article>
  );
}

function Markdown({ text }: { text: string }) {
  const parsed = useRef<ParsedMarkdown | null>(null);
  if (parsed.current?.text !== text) parsed.current = parseMarkdown(text, parsed.current);
  return <div class="answer">{render(markdownNodes(parsed.current))}</div>;
}
