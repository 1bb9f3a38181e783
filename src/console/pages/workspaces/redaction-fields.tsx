/** What of results and logs is replaced by labels: built-in rules, and patterns of the workspace. */
import type { components } from '../../../../client/src/index.ts';
import { CheckField } from '../../parts/fields/fields.tsx';
import { JsonField } from '../../parts/fields/json-field.tsx';

type Redaction = components['schemas']['Redaction'];
type Pattern = components['schemas']['RedactionPattern'];
const path = 'settings.redaction';

const rules: readonly (readonly [rule: components['schemas']['RedactionRule'], label: string])[] = [
  ['secret', 'Keys and tokens of well-known formats'],
  ['email', 'Email addresses'],
  ['phone', 'Phone numbers'],
  ['card', 'Card numbers'],
  ['iban', 'Bank accounts (IBAN)'],
  ['ip', 'IP addresses'],
  ['ssn', 'US social security numbers'],
];

export function RedactionFields({ redaction, onInput }: { redaction: Redaction | null; onInput(redaction: Redaction | null): void }) {
  const { rules: chosen = [], patterns = [], results = true, logs = true } = redaction ?? {};
  const set = (members: Partial<Redaction>): void => {
    const next = { ...redaction, rules: chosen, patterns, results, logs, ...members };
    onInput(next.rules.length === 0 && next.patterns.length === 0 ? null : next);
  };
  return (
    <>
      <div class="fields two">
        {rules.map(([rule, label]) => (
          <CheckField
            key={rule}
            label={label}
            path={`${path}.rules.${rule}`}
            value={chosen.includes(rule)}
            onInput={(isSet) => set({ rules: rules.map(([one]) => one).filter((one) => (one === rule ? isSet : chosen.includes(one))) })}
          />
        ))}
      </div>
      <JsonField
        label="Patterns of your own (JSON)"
        path={`${path}.patterns`}
        rows={3}
        hint={'Regular expressions of RE2, such as [{"name": "employee", "pattern": "EMP-[0-9]{6}"}].'}
        value={patterns.length === 0 ? undefined : patterns}
        read={readPatterns}
        onInput={(next) => set({ patterns: next })}
      />
      {redaction !== null && (
        <div class="fields two">
          <CheckField label="In results of calls" path={`${path}.results`} value={results} onInput={(isSet) => set({ results: isSet })} />
          <CheckField label="In logs" path={`${path}.logs`} value={logs} onInput={(isSet) => set({ logs: isSet })} />
        </div>
      )}
    </>
  );
}

/** The service checks the members of each pattern. */
function readPatterns(text: string): Pattern[] {
  const value: unknown = text.trim() === '' ? [] : JSON.parse(text);
  if (!Array.isArray(value)) throw new Error('It must be a list, such as [].');
  return value as Pattern[];
}
