/** One rule: its decision, and the conditions that must all match. Rules are counted from 0, as in messages of the service. */
import { asWritten, Select } from '../../parts/fields/controls.tsx';
import type { components } from '../../../../client/src/index.ts';
import { FieldFault } from '../../parts/fields/fields.tsx';

type Rule = components['schemas']['PolicyRule'];
type Condition = Exclude<keyof Rule, 'decision' | 'note'>;

const conditions: readonly (readonly [member: Condition, label: string, example: string])[] = [
  ['tool', 'tool', 'github.*'],
  ['effect', 'effect', ''],
  ['kind', 'kind of question', ''],
  ['host', 'host', 'api.example.com'],
  ['method', 'HTTP method', 'POST'],
  ['path', 'path', '/workspace/reports'],
  ['agent', 'agent', 'support'],
  ['key', 'key id', 'k7pd2mxw4q'],
  ['secret', 'secret', 'GITHUB'],
  ['name', 'toolset or made tool', 'made.find_and_replace'],
  ['resource', 'resource', 'docs.file:///public/*'],
  ['prompt', 'prompt', 'docs.review'],
];

const decisions = asWritten(['allow', 'ask', 'deny'] as const);

const choices: Partial<Record<Condition, readonly string[]>> = {
  effect: ['read', 'write', 'destroy', 'send'],
  kind: ['delete-file', 'overwrite-file', 'write-outside', 'network', 'destructive', 'untrusted', 'registry', 'taint'],
};

type RowProps = { rule: Rule; index: number; isDecided: boolean; onChange(rule: Rule): void; onRemove(): void };

export function RuleRow({ rule, index, isDecided, onChange, onRemove }: RowProps) {
  const set = conditions.filter(([member]) => rule[member] !== undefined);
  // The service checks the values of conditions.
  const change = (member: Condition | 'note', value: string | undefined): void => {
    const { [member]: _before, ...rest } = rule;
    onChange((value === undefined ? rest : { ...rule, [member]: value }) as Rule);
  };
  return (
    <li class={isDecided ? 'rule decided' : 'rule'} aria-label={`Rule ${index}`}>
      <div class="actions">
        <span class="muted">{index}</span>
        <Select
          class={rule.decision}
          aria-label={`Decision of rule ${index}`}
          value={rule.decision}
          choices={decisions}
          onInput={(decision) => onChange({ ...rule, decision })}
        />
        {isDecided && <span class="badge">decided the test</span>}
        <span class="grow" />
        <button type="button" class="plain" aria-label={`Remove rule ${index}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      <div class="conditions">
        {set.map(([member, label, example]) => (
          <label key={member} class="condition">
            <span>{label}</span>
            {choices[member] === undefined ? (
              <input
                autocomplete="off"
                spellcheck={false}
                placeholder={example}
                aria-label={`${label} of rule ${index}`}
                value={rule[member]}
                onInput={(event) => change(member, event.currentTarget.value)}
              />
            ) : (
              <Select
                aria-label={`${label} of rule ${index}`}
                value={rule[member] ?? ''}
                choices={asWritten(choices[member])}
                onInput={(value) => change(member, value)}
              />
            )}
            <button type="button" class="plain" aria-label={`Remove ${label} of rule ${index}`} onClick={() => change(member, undefined)}>
              ×
            </button>
          </label>
        ))}
        <select
          aria-label={`Add a condition to rule ${index}`}
          value=""
          onChange={({ currentTarget }) => {
            const member = conditions.find(([one]) => one === currentTarget.value)?.[0];
            currentTarget.value = '';
            if (member !== undefined) change(member, choices[member]?.[0] ?? '');
          }}
        >
          <option value="">Add a condition…</option>
          {conditions
            .filter(([member]) => rule[member] === undefined)
            .map(([member, label]) => (
              <option key={member} value={member}>
                {label}
              </option>
            ))}
        </select>
        <input
          class="note"
          aria-label={`Note of rule ${index}`}
          placeholder="Note: why?"
          value={rule.note ?? ''}
          onInput={(event) => change('note', event.currentTarget.value || undefined)}
        />
      </div>
      <FieldFault path={`rules[${index}]`} />
    </li>
  );
}
