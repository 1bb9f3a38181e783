/** The plain controls that fields, filters and tables are made of. */
import type { Signal } from '@preact/signals';
import type { JSX, TargetedEvent } from 'preact';

export type Choices<Value> = readonly (readonly [value: Value, label: string])[];

type SelectProps<Value> = {
  id?: string;
  class?: string;
  'aria-label'?: string;
  'aria-invalid'?: boolean;
  'aria-describedby'?: string | undefined;
  value: Value;
  choices: Choices<Value>;
  onInput(value: Value): void;
};

export function Select<Value extends string | number>({ choices, onInput, ...rest }: SelectProps<Value>) {
  return (
    <select {...rest} onChange={({ currentTarget }) => onInput((choices[currentTarget.selectedIndex] ?? [rest.value])[0])}>
      {choices.map(([choice, label]) => (
        <option key={choice} value={choice}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Choices that are shown as they are written. */
export function asWritten<Value extends string>(values: readonly Value[]): [value: Value, label: Value][] {
  return values.map((value) => [value, value]);
}

/** What an input with the attribute `list` offers. */
export function Suggestions({ id, values }: { id: string; values: readonly string[] }) {
  return (
    <datalist id={id}>
      {values.map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  );
}

/** Binds an input to the text that it changes. */
export function bound(text: Signal<string>) {
  return {
    value: text.value,
    onInput: ({ currentTarget }: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>): void => {
      text.value = currentTarget.value;
    },
  };
}

/** As `bound`, of a `Select`. */
export function boundChoice<Value>(chosen: Signal<Value>) {
  return {
    value: chosen.value,
    onInput: (value: Value): void => {
      chosen.value = value;
    },
  };
}

/** As `bound`, of a checkbox. */
export function boundCheck(isSet: Signal<boolean>) {
  return {
    checked: isSet.value,
    onChange: ({ currentTarget }: TargetedEvent<HTMLInputElement>): void => {
      isSet.value = currentTarget.checked;
    },
  };
}

export type FormProps = Omit<JSX.IntrinsicElements['form'], 'onSubmit' | 'action'> & {
  /** Called when the form is submitted. */
  send(form: HTMLFormElement): unknown;
};

/** A form that the page itself handles. */
export function PlainForm({ send, ...rest }: FormProps) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        void send(event.currentTarget);
      }}
    />
  );
}
