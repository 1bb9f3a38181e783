/** The targets of an entry: tools of servers that stand for one another, in which order, and which of them a call gets. */
import { useSignal } from '@preact/signals';
import { ChoiceField } from '../../parts/fields/fields.tsx';
import { CellInput, numberColumn, type RowColumn, RowTable, textColumn } from '../../parts/fields/row-table.tsx';
import { targetRows, targetWay, type TargetRow, type TargetWay, withTargets } from './target-draft.ts';
import type { ToolsetRow } from './toolset-draft.ts';

const ways: readonly (readonly [way: TargetWay, label: string])[] = [
  ['in-order', 'the first that can be called; the next one if it fails'],
  ['weights', 'by weight; a session keeps its target'],
  ['callers', 'by the calling key; other keys get the first'],
];

type TargetsProps = { entry: ToolsetRow; path: string; edit(next: ToolsetRow): void };

export function EntryTargets({ entry, path, edit }: TargetsProps) {
  // What is typed stays as it is typed: a row may be incomplete for a moment.
  const rows = useSignal<readonly TargetRow[]>(targetRows(entry));
  const way = useSignal(targetWay(entry));
  const set = (next: readonly TargetRow[]): void => {
    rows.value = next;
    edit(withTargets(entry, next, way.value));
  };
  return (
    <section class="fields" aria-label="Targets">
      <h2>Targets</h2>
      <RowTable
        class="weighted-rows"
        noun="a target"
        path={`${path}.tool`}
        isOrdered
        columns={way.value === 'in-order' ? [toolColumn] : [toolColumn, choiceColumns[way.value]]}
        rows={rows.value}
        blank={{ tool: '', callers: '' }}
        onChange={set}
      />
      {rows.value.length > 1 && (
        <ChoiceField
          label="Which target a call gets"
          path={`${path}.choose`}
          hint="All others must accept every call of the first one."
          value={way.value}
          choices={ways}
          onInput={(chosen) => {
            way.value = chosen;
            set(rows.value);
          }}
        />
      )}
    </section>
  );
}

const toolColumn = textColumn<TargetRow>('Tool', 'tool', { isWord: true, placeholder: 'github.search', list: 'known-tools' });

const choiceColumns: Readonly<Record<Exclude<TargetWay, 'in-order'>, RowColumn<TargetRow>>> = {
  weights: numberColumn('Weight', 'weight', '1'),
  callers: {
    label: 'Callers',
    input: ({ callers, kept }, change, of) => (
      <CellInput
        label={`Callers of ${of}`}
        placeholder={kept === undefined ? 'role=admin; key=k7pd2mxw4q' : 'set in the document'}
        value={callers}
        isDisabled={kept !== undefined}
        onInput={(text) => change({ callers: text })}
      />
    ),
  },
};
