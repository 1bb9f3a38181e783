/** One held or rejected definition of a server, with what changed, what was found in it, and the decisions about it. */
import type { ComponentChildren } from 'preact';
import type { components } from '../../../../client/src/index.ts';
import { announce } from '../../api/announce.ts';
import { DiffLines } from '../../parts/documents/diff-lines.tsx';
import { visible } from '../../parts/text/visible.ts';
import { visibleNodes } from '../../text/visible-nodes.ts';
import { AcceptFlagged } from './accept-flagged.tsx';
import { Decisions } from './decisions.tsx';
import { Findings } from './findings.tsx';
import type { ReviewSubject } from './review-subject.ts';
import type { OpenServer } from './server-state.ts';

type Hold = components['schemas']['Hold'];

const reasons: Readonly<Record<Hold['reason'], string>> = {
  changed: 'Its definition is not the accepted one.',
  new: 'Its server added it after the first listing.',
  suspicious: 'It has findings that only you can judge.',
  server: 'The server at this address reports another name than before.',
  revoked: 'It was revoked from the toolset.',
  rejected: 'It was rejected. It stays so until that is undone or the server lists another definition.',
};

export function hasNoFindings({ findings = [] }: Hold): boolean {
  return findings.length === 0;
}

type CardProps = {
  state: OpenServer;
  subject: ReviewSubject;
  held: Hold;
  decisions?: components['schemas']['DefinitionDecision'][] | undefined;
  /** What accepting would have done. */
  pastCalls?: ComponentChildren;
  /** The definition, shown if there is no earlier one to compare with. */
  children: ComponentChildren;
};

export function HeldCard({ state, subject, held, decisions = [], pastCalls, children }: CardProps) {
  const { name } = subject;
  const { reason, changes, findings = [], refId } = held;
  const decide = async (action: 'accept' | 'reject', done: string): Promise<void> => {
    if (await state.act(() => subject.decide(action, { refId }))) announce(`${name} is ${done}`);
  };
  const earlier = decisions.filter(({ decision, refId: of }) => decision === 'rejected' && of !== refId);
  return (
    <article class="held-card" aria-label={name}>
      <header class="actions">
        <code>{visible(name)}</code>
        <span class="badge warn">{reason}</span>
        <span class="grow" />
        {reason !== 'rejected' && (
          <>
            <button type="button" aria-label={`Reject ${name}`} onClick={() => void decide('reject', 'rejected')}>
              Reject
            </button>
            {hasNoFindings(held) && (
              <button type="button" class="primary" aria-label={`Accept ${name}`} onClick={() => void decide('accept', 'accepted')}>
                Accept
              </button>
            )}
          </>
        )}
      </header>
      <p>
        {reasons[reason]}
        {earlier.length > 0 && ` ${earlier.length === 1 ? 'An earlier definition' : 'Earlier definitions'} of it was rejected.`}
      </p>
      {reason !== 'rejected' && pastCalls}
      <Decisions state={state} subject={subject} decisions={decisions} />
      {reason !== 'rejected' && !hasNoFindings(held) && <AcceptFlagged key={refId} state={state} subject={subject} refId={refId} />}
      <Findings findings={findings} />
      {changes.length === 0 && children}
      {changes.map(({ path, from, to }, index) => (
        <div key={index}>
          <code>{visible(path === '' ? 'definition' : path)}</code>
          <DiffLines before={textOf(from)} after={textOf(to)} label={`Change of ${path} of ${name}`} />
        </div>
      ))}
    </article>
  );
}

/** An absent value has no lines. */
function textOf(value: unknown): string | null {
  return value === undefined ? null : withHidden(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
}

/** The service writes hidden characters as `<U+202E>`. As characters they are marked like everywhere else. */
export function withHidden(text: string): string {
  return text.replaceAll(/<U\+([0-9A-F]{4,5}|10[0-9A-F]{4})>/g, (written, hex: string) => {
    const character = String.fromCodePoint(Number.parseInt(hex, 16));
    return visibleNodes(character).length > 1 ? character : written;
  });
}
