/** What the calls of the last 30 days say about the toolset: what the edit would break, and which names models call from habit. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ChangedDecisions } from '../../parts/records/changed-decisions.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { SessionLinks } from '../../parts/text/session-links.tsx';
import { visible } from '../../parts/text/visible.ts';
import { type Suggestion, withDismissed, withLearned } from './learn-draft.ts';
import type { ToolsetDraft } from './toolset-draft.ts';
import type { OpenToolset } from './toolset-state.ts';

type Impact = components['schemas']['ToolsetImpact'];
type Changed = Impact['changed'][number];

export function PastCalls({ state: { document, path } }: { state: OpenToolset }) {
  /** Of the draft that was compared. */
  const compared = useSignal<{ draft: ToolsetDraft; impact: Impact } | null>(null);
  const learned = useSignal<components['schemas']['ToolsetSuggestions'] | null>(null);
  const { problem, attempt } = useAttempt();
  const draft = document.draft.value;
  const compare = () =>
    attempt(async () => {
      if (draft === null) return;
      compared.value = { draft, impact: await moniker.value.post('/v1/toolsets/{toolset}/impact', { params: { path }, body: draft }) };
    });
  const suggest = () =>
    attempt(async () => {
      learned.value = await moniker.value.get('/v1/toolsets/{toolset}/suggestions', { params: { path } });
    });
  const replace = (next: ToolsetDraft, done?: Suggestion): void => {
    document.replace(next);
    if (learned.value !== null) learned.value = { ...learned.value, suggestions: learned.value.suggestions.filter((one) => one !== done) };
  };
  return (
    <section aria-label="Past calls">
      <h2>Past calls</h2>
      <div class="actions">
        <button type="button" onClick={compare}>
          What would this edit break?
        </button>
        <button type="button" onClick={suggest}>
          Which names do models invent?
        </button>
      </div>
      {problem.value !== null && <ProblemView error={problem.value} />}
      {compared.value !== null && compared.value.draft === draft && (
        <ImpactRows impact={compared.value.impact} onMend={(mended) => replace(mended as ToolsetDraft)} />
      )}
      {learned.value !== null && draft !== null && (
        <Suggestions
          suggestions={learned.value.suggestions}
          unknown={learned.value.unknown}
          onAdd={(one) => replace(withLearned(draft, one), one)}
          onDismiss={(one) => replace(withDismissed(draft, one), one)}
        />
      )}
    </section>
  );
}

function changeText({ change, was, now, wireName }: Changed): string {
  const instead = wireName === null ? '' : `; the tool is called ${wireName} now`;
  return {
    gone: `no longer works${instead}`,
    moved: `calls ${now.join(', ')} instead of ${was}`,
    ambiguous: `matches ${now.join(' and ')}`,
    unusable: `is the name of a tool that cannot be called`,
    found: `works: it calls ${now.join(', ')}`,
  }[change];
}

function ImpactRows({ impact, onMend }: { impact: Impact; onMend(mended: Impact['mended']): void }) {
  const { changed, same, unjudged, mended, nextCursor, decisions, arguments: given } = impact;
  const refused = given?.refused ?? [];
  const unread = (given?.turns.left ?? 0) > 0 || given?.turns.more === true;
  return (
    <div role="status">
      {changed.length + refused.length + decisions.changed.length === 0 && (
        <p>It breaks none of the {same.calls} calls of the last 30 days.</p>
      )}
      <ul class="rows">
        {changed.map((one) => (
          <li key={one.requested}>
            <strong>{visible(one.requested)}</strong> {visible(changeText(one))}
            <span class="muted">
              {one.calls === 1 ? '1 call' : `${one.calls} calls`}, last on {one.lastDay}
              {one.agents.length > 0 && `, by ${visible(one.agents.join(', '))}`}
            </span>
            <SessionLinks sessions={one.sessions} />
          </li>
        ))}
        {refused.map(({ tool, calls, issues, sessions }) => (
          <li key={`${tool} ${issues[0]?.path}`}>
            <strong>{visible(tool)}</strong> refuses {calls} calls:{' '}
            {visible(issues.map(({ path, message }) => `${path} ${message}`).join('; '))}
            <SessionLinks sessions={sessions} />
          </li>
        ))}
      </ul>
      <ChangedDecisions decisions={decisions} />
      {unjudged > 0 && <p class="muted">{unjudged} calls could not be compared: their names were not stored.</p>}
      {nextCursor !== null && <p class="muted">There are more names than were compared here. The API compares them in pages.</p>}
      {unread && <p class="muted">The arguments of some turns were not read: there are too many, or their session was deleted.</p>}
      {mended !== null && (
        <button type="button" onClick={() => onMend(mended)}>
          Keep what can be kept, by deprecated aliases
        </button>
      )}
    </div>
  );
}

type SuggestionProps = {
  suggestions: readonly Suggestion[];
  unknown: components['schemas']['ToolsetSuggestions']['unknown'];
  onAdd(one: Suggestion): void;
  onDismiss(one: Suggestion): void;
};

function Suggestions({ suggestions, unknown, onAdd, onDismiss }: SuggestionProps) {
  return (
    <div role="status">
      {suggestions.length + unknown.length === 0 && <p>None in the last 30 days.</p>}
      <ul class="rows">
        {suggestions.map((one) => (
          <li key={`${one.tool} ${one.argument} ${one.name}`}>
            <strong>{visible(one.name)}</strong> means{' '}
            {visible(one.argument === null ? one.tool : `the argument ${one.argument} of ${one.tool}`)}
            <span class="muted">
              seen {one.seen} times; adds {one.preview.found} calls, breaks {one.preview.broken}
              {one.isNoteOnly && '; the tool may delete data, so no alias is proposed'}
            </span>
            {!one.isNoteOnly && (
              <button type="button" onClick={() => onAdd(one)}>
                Add
              </button>
            )}
            <button type="button" class="plain" onClick={() => onDismiss(one)}>
              Dismiss
            </button>
          </li>
        ))}
        {unknown.map(({ requested, calls, near }) => (
          <li key={requested}>
            <strong>{visible(requested)}</strong> is no tool
            <span class="muted">
              {calls} calls{near.length > 0 && `; near ${visible(near.join(', '))}`}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
