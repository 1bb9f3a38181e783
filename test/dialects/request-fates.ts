/** What becomes of a field of a request at each wire, by the table; and the same as the tables of docs/request-fields.md. */
import { type ProviderWire, wires, wireSettings } from '../../src/core/model/wire-settings.ts';
import type { Field } from '../../src/dialects/fields.ts';
import { type DialectExamples, dialectExamples } from './request-fields.ts';

export type Fate = 'passed' | 'mapped' | 'served' | 'refused' | 'dropped';

/** In its own wire, a request is passed on. */
export function fateOf(field: Field | undefined, wire: ProviderWire, own: ProviderWire): Fate {
  if (field !== undefined && field.fate === 'served') return 'served';
  if (wire === own) return 'passed';
  switch (field?.fate) {
    case 'read':
      return 'mapped';
    case 'carried':
      return wireSettings[wire].has(field.as) ? 'mapped' : field.isRefused ? 'refused' : 'dropped';
    case 'refused':
      return 'refused';
    case 'optional':
      return 'dropped';
    default:
      return 'dropped';
  }
}

const signs: Readonly<Record<Fate, string>> = { passed: '=', mapped: 'yes', served: 'here', refused: '422', dropped: '–' };

export function countsOf({ fields, own }: DialectExamples): Record<Fate, number> {
  const counts = { passed: 0, mapped: 0, served: 0, refused: 0, dropped: 0 };
  for (const field of Object.values(fields)) for (const wire of wires) counts[fateOf(field, wire, own)] += 1;
  return counts;
}

function whyOf(field: Field): string {
  if (field.fate === 'optional') return `${field.reason}; alone it is refused`;
  if (field.fate === 'carried' && field.as === 'webSearch') return 'alone it is refused, unless a tool of the toolset stands for it';
  const why = field.fate === 'refused' ? field.message : field.fate === 'dropped' ? field.reason : '';
  return why.split(/[.:;]/)[0] ?? '';
}

/** What follows a blank, such as a condition, is no code. */
function showPath(path: string): string {
  const [plain = '', form] = path.split(/ (.*)/);
  return [`\`${plain}\``, form].filter((part) => part !== undefined).join(' ');
}

export function fatesAsMarkdown(): string {
  const parts = Object.values(dialectExamples).map((dialect) => {
    const { title, fields, own } = dialect;
    const counts = countsOf(dialect);
    const table = (name: string, rows: [string, Field][]): string[] => [
      `| ${name} | ${wires.map((wire) => `\`${wire}\``).join(' | ')} | Why |`,
      `|---|${wires.map(() => '---').join('|')}|---|`,
      // Fields with the same fates share a row.
      ...[...Map.groupBy(rows, ([, field]) => `${wires.map((wire) => signs[fateOf(field, wire, own)]).join(' | ')} | ${whyOf(field)}`)].map(
        ([fates, members]) => `| ${members.map(([path]) => showPath(path)).join(', ')} | ${fates} |`,
      ),
      '',
    ];
    const rows = Object.entries(fields);
    const kinds = rows.filter(([path]) => path.includes('type='));
    const others = rows.filter(([path]) => !path.includes('type='));
    const total = Object.entries(counts).map(([fate, count]) => `${count} ${fate}`);
    const counted = kinds.length > 0 ? ` and ${kinds.length} kinds` : '';
    const head = [`## Fields of ${title}`, '', `${others.length} fields${counted}: ${total.join(', ')}.`, ''];
    return [...head, ...table('Field', others), ...(kinds.length > 0 ? table('Kind', kinds) : [])].join('\n');
  });
  return `${parts.join('\n')}`;
}
