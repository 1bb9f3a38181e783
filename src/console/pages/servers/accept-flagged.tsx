/** The second step of accepting a definition with findings: the definition as listed, and what the user has to confirm about it. */
import { useSignal } from '@preact/signals';
import { MonikerError } from '../../../../client/src/index.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import type { ReviewSubject } from './review-subject.ts';
import type { OpenServer } from './server-state.ts';

/** Members of the problem `acknowledgement_required`. `definition`: JSON, with hidden characters as `\uXXXX`. */
type Step = { refId: string; acknowledge: string[]; definition: string };

type FlaggedProps = { state: OpenServer; subject: ReviewSubject; refId: string; annotations?: true };

/** `refId`: the definition that is shown. `annotations`: accepts its annotations as well. */
export function AcceptFlagged({ state, subject, refId, annotations }: FlaggedProps) {
  const { name } = subject;
  const step = useSignal<Step | null>(null);
  const send = (body: { refId: string; acknowledge?: string[] }) =>
    state.act(() =>
      subject.decide('accept', { ...body, ...(annotations && { annotations }) }).catch((error: unknown) => {
        if (!(error instanceof MonikerError) || error.code !== 'acknowledgement_required' || body.acknowledge !== undefined) throw error;
        step.value = error.body as Step; // The service documents these members.
      }),
    );
  if (step.value === null)
    return (
      <button type="button" aria-label={`Review ${name}`} onClick={() => void send({ refId })}>
        Review to accept
      </button>
    );
  const { acknowledge, definition } = step.value;
  const shown = { refId: step.value.refId, acknowledge };
  return (
    <section aria-label={`Definition of ${name}`}>
      <CodeBlock text={lines(definition)} language="json" label={`The definition of ${name} as its server lists it`} />
      <ConfirmButton
        label="Accept nevertheless"
        question={`Its definition has findings: ${acknowledge.join(', ')}. Models would read it.`}
        onConfirm={() => void send(shown)}
      />
    </section>
  );
}

/** One member a line. It stays as it is written, since parsing it would make characters invisible. */
function lines(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g, (token) =>
    token === ',' || token === '{' || token === '[' ? `${token}\n` : token,
  );
}
