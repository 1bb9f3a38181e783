/** Which names of tools and arguments models call from habit, by the calls of the last 30 days, and the aliases that accept them. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { type Suggestion, withDismissed, withLearned } from './learn-draft.ts';
import type { ToolsetDraft } from './toolset-draft.ts';
import type { OpenToolset } from './toolset-state.ts';

export function InventedNames({ state: { document, path } }: { state: OpenToolset }) {
  const learned = useSignal<components['schemas']['ToolsetSuggestions'] | null>(null);
  const { problem, attempt } = useAttempt();
  const draft = document.draft.value;
  const suggest = () =>
    attempt(async () => {
      learned.value = await moniker.value.get('/v1/toolsets/{toolset}/suggestions', { params: { path } });
    });
  const replace = (next: ToolsetDraft, done?: Suggestion): void => {
    document.replace(next);
    if (learned.value !== null) learned.value = { ...learned.value, suggestions: learned.value.suggestions.filter((one) => one !== done) };
  };
  return (
    <section aria-label="Invented names">
      <h2>Invented names</h2>
      <div class="actions">
        <button type="button" onClick={suggest}>
          Which names do models invent?
        </button>
      </div>
      {problem.value !== null && <ProblemView error={problem.value} />}
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
