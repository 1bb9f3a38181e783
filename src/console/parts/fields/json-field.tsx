/** A member of a document as JSON text. Text that cannot be read stays in the box and changes nothing. */
import { useSignal } from '@preact/signals';
import { isJsonRecord } from '../../text/json.ts';
import { TextField } from './fields.tsx';

type JsonProps<Value> = {
  label: string;
  path: string;
  hint?: string;
  rows: number;
  value: unknown;
  /** Throws an `Error` that says what the text needs. */
  read(text: string): Value;
  onInput(value: Value): void;
};

export function JsonField<Value>({ value, read, onInput, ...rest }: JsonProps<Value>) {
  const text = useSignal(value === undefined ? '' : JSON.stringify(value, null, 2));
  const fault = useSignal<string | null>(null);
  return (
    <div>
      <TextField
        {...rest}
        isCode
        value={text.value}
        onInput={(typed) => {
          text.value = typed;
          try {
            onInput(read(typed));
            fault.value = null;
          } catch (error) {
            fault.value = error instanceof Error ? error.message : String(error);
          }
        }}
      />
      {fault.value !== null && <p class="fault">Not used yet: {fault.value}</p>}
    </div>
  );
}

/** Reads a JSON object; empty text is undefined. Throws an `Error` for anything else. */
export function readObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return undefined;
  const value: unknown = JSON.parse(text);
  if (!isJsonRecord(value)) throw new Error('It must be an object, such as {}.');
  return value;
}
