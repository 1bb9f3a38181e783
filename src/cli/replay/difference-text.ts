/** Both sides of a case as text: its calls in order, marked as a diff, then the answers if they differ. Pure. */
import type { components } from '../../../client/src/index.ts';
import { cutToLength } from '../../core/text/utf8.ts';
import { inLine } from '../output.ts';

type Detail = components['schemas']['ReplayCaseDetail'];
type Side = NonNullable<Detail['recordedSide']>;
type Call = Side['calls'][number];

const maxArgumentsLength = 2_000;
const maxAnswerLength = 4_000;

const signs = { same: ' ', missing: '-', added: '+' } as const;

/** Lines begin with ` ` same, `~` other arguments, `-` recorded only, `+` replayed only. */
export function differenceText({ recordedSide, replayedSide, differences }: Detail): string {
  if (recordedSide === null || replayedSide === null)
    return 'The content is not available: the recording is gone, or the case did not run.';
  const callAt = (side: Side, index: number | null): Call | undefined => (index === null ? undefined : side.calls[index]);
  const lines = differences.flatMap(({ kind, recorded, replayed, paths }) => {
    const before = callAt(recordedSide, recorded);
    const after = callAt(replayedSide, replayed);
    const shown = after ?? before;
    const renamed = before !== undefined && after !== undefined && before.requested !== after.requested;
    const name = `${shown?.canonical ?? `${shown?.requested} (no such tool)`}${renamed ? ` (${before.requested}, now ${after.requested})` : ''}`;
    if (kind === 'changed')
      return [`~ ${name}: ${paths.join(', ')}`, `    recorded ${argumentText(before)}`, `    replayed ${argumentText(after)}`];
    const failed = shown?.isError ? ` failed${shown.code === null ? '' : ` (${shown.code})`}` : '';
    return [`${signs[kind]} ${name} ${argumentText(shown)}${failed}`];
  });
  const answers =
    recordedSide.text === replayedSide.text
      ? []
      : [`answer, recorded: ${answerText(recordedSide)}`, `answer, replayed: ${answerText(replayedSide)}`];
  return [...(lines.length === 0 ? ['No calls on either side.'] : lines.map(inLine)), ...answers].join('\n');
}

function argumentText(call: Call | undefined): string {
  return cutToLength(JSON.stringify(call?.arguments ?? {}), maxArgumentsLength);
}

/** Further lines are indented, so that none of them looks like a call. */
function answerText({ text }: Side): string {
  return cutToLength(text, maxAnswerLength).replaceAll('\n', '\n    ');
}
