/** The fields of an alias: the model or agent that it stands for, or its targets and what happens when they fail. */
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { useModels } from '../../api/models.ts';
import { CacheFields } from '../../parts/fields/cache-fields.tsx';
import { Suggestions } from '../../parts/fields/controls.tsx';
import { ChoiceField } from '../../parts/fields/fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { numberColumn, RowTable, textColumn } from '../../parts/fields/row-table.tsx';
import { TimeoutFields } from '../../parts/fields/timeout-fields.tsx';

export type ModelAliasDraft = components['schemas']['ModelAlias'];
type Target = components['schemas']['RouteTarget'];
type FieldsProps = { draft: ModelAliasDraft; edit(next: ModelAliasDraft): void };

const kinds = [
  ['model', 'one model or agent'],
  ['targets', 'several models (a route)'],
] as const;

export function AliasFields({ draft, edit }: FieldsProps) {
  const models = useModels();
  const members = memberFields(draft, edit);
  const { model = '', targets } = draft;
  const choose = (kind: 'model' | 'targets'): void => {
    const { description, cache } = draft;
    if (kind === 'model') edit(withMembers<ModelAliasDraft>({ model: targets?.[0]?.model ?? '' }, { description, cache }));
    else edit(withMembers(draft, { model: undefined, targets: [{ model: model.startsWith('agent/') ? '' : model }] }));
  };
  return (
    <>
      <div class="fields two">
        {members.text('description', 'Description')}
        <ChoiceField
          label="Requests go to"
          path="kind"
          value={targets === undefined ? 'model' : 'targets'}
          choices={kinds}
          onInput={choose}
        />
      </div>
      {targets === undefined ? (
        members.requiredWord('model', 'Model or agent', { placeholder: 'groq/llama-3.3-70b-versatile', suggestions: models })
      ) : (
        <RouteFields draft={draft} edit={edit} targets={targets} models={models} />
      )}
      <CacheFields draft={draft} edit={edit} />
    </>
  );
}

function RouteFields({ draft, edit, targets, models }: FieldsProps & { targets: readonly Target[]; models: readonly string[] }) {
  const members = memberFields(draft, edit);
  const { strategy, fallbacks = [] } = draft;
  const isWeighted = strategy === 'weighted' || strategy === 'least-busy' || targets.some(({ weight }) => weight !== undefined);
  const known = models.filter((id) => id.includes('/') && !id.startsWith('agent/'));
  return (
    <>
      <fieldset class="fields">
        <legend>Targets</legend>
        {members.choice('strategy', 'Which target a request gets', [
          ['in-order', 'the first that is up'],
          ['weighted', 'by weight'],
          ['least-busy', 'the one with the fewest running requests'],
          ['lowest-latency', 'the fastest'],
        ])}
        <RowTable
          class="weighted-rows"
          noun="a target"
          path="targets"
          isOrdered
          columns={isWeighted ? [modelColumn, weightColumn] : [modelColumn]}
          rows={targets}
          blank={{ model: '' }}
          onChange={(rows) => edit({ ...draft, targets: rows })}
        />
        <Suggestions id="target-models" values={known} />
        {members.choice('sticky', 'What stays with its target while that is up', [
          ['session', 'a conversation, for the prompt cache of the provider'],
          ['key', 'everything of a key'],
          ['none', 'nothing'],
        ])}
      </fieldset>
      <fieldset class="fields">
        <legend>When no target replies</legend>
        <p class="hint">These models are asked then, in this order.</p>
        <RowTable
          class="weighted-rows"
          noun="a fallback"
          path="fallbacks"
          isOrdered
          columns={[modelColumn]}
          rows={fallbacks.map((model): Target => ({ model }))}
          blank={{ model: '' }}
          onChange={(rows) => edit(withMembers(draft, { fallbacks: rows.length > 0 ? rows.map(({ model }) => model) : undefined }))}
        />
        <div class="fields two">
          {members.word('contextFallback', 'If the conversation is too long for a model', {
            hint: 'Asked next, in place of the others.',
            placeholder: 'gemini/gemini-2.5-pro',
            suggestions: known,
          })}
          {members.number('retries', 'Further attempts at a model', {
            hint: '0 to 5. With a number, a request does not wait when all have failed.',
            placeholder: '0',
          })}
          <TimeoutFields draft={draft} edit={edit} placeholder="the provider’s" hasTotal />
        </div>
      </fieldset>
    </>
  );
}

const modelColumn = textColumn<Target>('Model', 'model', { isWord: true, placeholder: 'openai/gpt-5.5', list: 'target-models' });
const weightColumn = numberColumn<Target>('Weight', 'weight', '1');
