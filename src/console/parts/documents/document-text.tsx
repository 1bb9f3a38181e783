/** The draft of a document as JSON text, for what its fields do not show. Text that is not JSON stays in the box and changes nothing. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { MonikerError } from '../../../../client/src/index.ts';
import type { OpenDocument } from '../../api/document.ts';
import { jsonIn } from '../../text/json.ts';
import { CodeInput } from '../fields/code-input.tsx';
import { CopyButton } from '../actions/copy-button.tsx';

type TextProps<Draft> = {
  document: OpenDocument<Draft>;
  /** Throws an `Error` that says what the fields need. Everything else, or all of it, is checked by the service. */
  read?(value: unknown): Draft;
  rows?: number;
};

export function DocumentText<Draft>({ document, read = (value) => value as Draft, rows = 24 }: TextProps<Draft>) {
  const draft = document.draft.value;
  const text = useSignal(JSON.stringify(draft, null, 2));
  const fault = useSignal<string | null>(null);
  useEffect(() => {
    if (fault.value === null && JSON.stringify(jsonIn(text.value)) !== JSON.stringify(draft)) text.value = JSON.stringify(draft, null, 2);
  }, [draft]);
  const error = document.problem.value ?? document.check.value.error;
  return (
    <div class="fields">
      <label for="document">Document (JSON)</label>
      <CodeInput
        id="document"
        label="Document (JSON)"
        language="json"
        rows={rows}
        value={text.value}
        issues={error instanceof MonikerError ? error.issues : []}
        aria-invalid={fault.value !== null}
        aria-describedby={fault.value === null ? undefined : 'document-fault'}
        onInput={(typed) => {
          text.value = typed;
          try {
            document.replace(read(JSON.parse(text.value)));
            fault.value = null;
          } catch (error) {
            fault.value = error instanceof Error ? error.message : String(error);
          }
        }}
      />
      {fault.value !== null && (
        <p id="document-fault" class="fault">
          Not used yet: {fault.value}
        </p>
      )}
      <p>
        <CopyButton text={text.value} what="the document" />
      </p>
    </div>
  );
}
