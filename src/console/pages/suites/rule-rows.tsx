/** The rules of a suite as rows: a kind, and a value where the kind has one. */
import { Select } from '../../parts/fields/controls.tsx';
import { CellInput, RowTable } from '../../parts/fields/row-table.tsx';
import { type Rule, type RuleKind, partsOf, ruleKinds, ruleOf } from '../../text/replay-rules.ts';

const choices = Object.entries(ruleKinds).map(([kind, { label }]) => [kind as RuleKind, label] as const);

type Row = { rule: Rule };

export function RuleRows({ rules, onChange }: { rules: readonly Rule[]; onChange(rules: Rule[]): void }) {
  return (
    <RowTable<Row>
      class="rule-rows"
      noun="a rule"
      rows={rules.map((rule) => ({ rule }))}
      blank={{ rule: { calls: 'same' } }}
      onChange={(rows) => onChange(rows.map(({ rule }) => rule))}
      columns={[
        {
          label: 'A replay has',
          input: ({ rule }, change, of) => {
            const { kind, value } = partsOf(rule);
            return (
              <Select
                aria-label={`Kind of ${of}`}
                value={kind}
                choices={choices}
                onInput={(next) => change({ rule: ruleOf(next, value ?? '') })}
              />
            );
          },
        },
        {
          label: 'Value',
          input: ({ rule }, change, of) => {
            const { kind, value } = partsOf(rule);
            // JSON is read when the field is left: half of it is another text.
            if (kind === 'json-value')
              return (
                <input
                  class="code"
                  aria-label={`Value of ${of}`}
                  value={value ?? ''}
                  onChange={({ currentTarget }) => change({ rule: ruleOf(kind, currentTarget.value) })}
                />
              );
            return (
              value !== null && (
                <CellInput label={`Value of ${of}`} value={value} onInput={(text) => change({ rule: ruleOf(kind, text) })} />
              )
            );
          },
        },
      ]}
    />
  );
}
