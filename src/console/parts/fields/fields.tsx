/** Fields of an editor. What the service says is wrong with a field is shown at it, by its path in the document. */
import { type FieldIssue, FieldIssues, IssuesOf } from './field-issues.tsx';
import { useAttempt } from '../../api/load.ts';
import { type Choices, type FormProps, PlainForm, Select, Suggestions } from './controls.tsx';
import { ProblemView } from '../text/problem-view.tsx';
import type { ComponentChildren } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { MonikerError } from '../../../../client/src/index.ts';
import { CodeInput } from './code-input.tsx';
import { visible } from '../text/visible.ts';

type Common = {
  label: string;
  /** The field’s path in the document, such as `limits.maxSteps`. */
  path: string;
  hint?: ComponentChildren;
};
type TextInput = Common & {
  value: string;
  onInput(value: string): void;
  /** More than one: a box of lines. */
  rows?: number;
  isCode?: boolean;
  placeholder?: string;
  suggestions?: readonly string[];
};

export function TextField({ value, onInput, rows = 1, isCode = false, placeholder, suggestions = [], ...common }: TextInput) {
  const list = useId();
  return (
    <FieldFrame {...common}>
      {(input) =>
        rows > 1 ? (
          <textarea
            {...input}
            class={isCode ? 'code' : undefined}
            rows={rows}
            spellcheck={!isCode}
            value={value}
            placeholder={placeholder}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        ) : (
          <>
            <input
              {...input}
              autocomplete="off"
              spellcheck={false}
              value={value}
              placeholder={placeholder}
              list={suggestions.length > 0 ? list : undefined}
              onInput={(event) => onInput(event.currentTarget.value)}
            />
            {suggestions.length > 0 && <Suggestions id={list} values={suggestions} />}
          </>
        )
      }
    </FieldFrame>
  );
}

/** JavaScript, with the issues at their lines. */
export function CodeField({ value, onInput, rows, ...common }: Common & { value: string; onInput(value: string): void; rows: number }) {
  const issues = issuesAt(useContext(FieldIssues), common.path);
  const box = { label: common.label, language: 'javascript', value, onInput, rows, issues } as const;
  return <FieldFrame {...common}>{(input) => <CodeInput {...input} {...box} />}</FieldFrame>;
}

/** A value that the service does not return. */
export function SecretField({ value, onInput, placeholder, ...common }: Common & Pick<TextInput, 'value' | 'onInput' | 'placeholder'>) {
  return (
    <FieldFrame {...common}>
      {(input) => (
        <input
          {...input}
          type="password"
          autocomplete="off"
          value={value}
          placeholder={placeholder}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </FieldFrame>
  );
}

/** Names with commas or spaces between them. What is typed stays as it is typed. */
export function NamesField({ value, onInput, ...rest }: Omit<TextInput, 'value' | 'onInput'> & ListInput) {
  const text = useSignal(value.join(', '));
  return (
    <TextField
      {...rest}
      value={text.value}
      onInput={(typed) => {
        text.value = typed;
        onInput(typed.split(/[\s,]+/).filter((name) => name !== ''));
      }}
    />
  );
}
type ListInput = { value: readonly string[]; onInput(value: string[]): void };

/** A number, or undefined while the field is empty. */
export function NumberField({ value, onInput, placeholder, ...common }: Common & NumberInput) {
  return (
    <FieldFrame {...common}>
      {(input) => (
        <input
          {...input}
          type="number"
          step="any"
          value={value ?? ''}
          placeholder={placeholder}
          onInput={({ currentTarget: { value: typed, valueAsNumber } }) => onInput(typed === '' ? undefined : valueAsNumber)}
        />
      )}
    </FieldFrame>
  );
}
type NumberInput = { value: number | undefined; onInput(value: number | undefined): void; placeholder?: string };

export function ChoiceField<Value extends string>({ value, onInput, choices, ...common }: Common & ChoiceInput<Value>) {
  return <FieldFrame {...common}>{(input) => <Select {...input} value={value} choices={choices} onInput={onInput} />}</FieldFrame>;
}
type ChoiceInput<Value> = { value: Value; onInput(value: Value): void; choices: Choices<Value> };

export function CheckField({ label, path, hint, value, onInput }: Common & { value: boolean; onInput(value: boolean): void }) {
  const { id, about, issue } = useField(path, hint);
  return (
    <div class="field">
      <label class="check">
        <input type="checkbox" id={id} checked={value} {...about.attributes} onChange={(event) => onInput(event.currentTarget.checked)} />
        {label}
      </label>
      {about.notes}
      {issue}
    </div>
  );
}

type InputAttributes = { id: string; 'aria-invalid': boolean; 'aria-describedby': string | undefined };

function FieldFrame({ label, path, hint, children }: Common & { children(input: InputAttributes): ComponentChildren }) {
  const { id, about, issue } = useField(path, hint);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...about.attributes })}
      {about.notes}
      {issue}
    </div>
  );
}

function useField(path: string, hint: ComponentChildren) {
  const id = useId();
  const found = issuesAt(useContext(FieldIssues), path);
  const described = [hint === undefined ? '' : `${id}-hint`, found.length === 0 ? '' : `${id}-issue`].filter((one) => one !== '').join(' ');
  return {
    id,
    about: {
      attributes: { 'aria-invalid': found.length > 0, 'aria-describedby': described === '' ? undefined : described },
      notes: hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      ),
    },
    issue: <IssueText id={`${id}-issue`} path={path} found={found} />,
  };
}

/** What is wrong with a member that has no field of its own. `isOnlyOwn`: what it contains has fields. */
export function FieldFault({ path, isOnlyOwn = false }: { path: string; isOnlyOwn?: boolean }) {
  const found = issuesAt(useContext(FieldIssues), path);
  return <IssueText id={undefined} path={path} found={isOnlyOwn ? found.filter((one) => one.path === path) : found} />;
}

function issuesAt(issues: readonly FieldIssue[], path: string): FieldIssue[] {
  return issues.filter(({ path: at }) => at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`));
}

function IssueText({ id, path, found }: { id: string | undefined; path: string; found: readonly FieldIssue[] }) {
  if (found.length === 0) return null;
  return (
    <p id={id} class="fault">
      {found.map(({ path: at, message }, index) => (
        <span key={index}>
          {at !== path && <code>{visible(at)} </code>}
          {visible(message)}{' '}
        </span>
      ))}
    </p>
  );
}

type SendingFormProps = Omit<FormProps, 'send'> & {
  /** Rejects with what is wrong. */
  send(): Promise<void>;
  submit: string;
  isIncomplete: boolean;
  /** Shown instead of an error with this code. */
  explained?: { code: string; text: string };
  /** More buttons. */
  actions?: ComponentChildren;
};

/** A form whose sending can fail: what went wrong is shown above its fields and at them. */
export function SendingForm({ send, submit, isIncomplete, explained, actions, children, ...rest }: SendingFormProps) {
  const isSending = useSignal(false);
  const { problem, attempt } = useAttempt();
  const submitted = async (): Promise<void> => {
    isSending.value = true;
    await attempt(send);
    isSending.value = false;
  };
  const isExplained = problem.value instanceof MonikerError && problem.value.code === explained?.code;
  return (
    <PlainForm {...rest} send={submitted}>
      {isExplained && <p class="notice warn rounded">{explained?.text}</p>}
      {problem.value !== null && !isExplained && <ProblemView error={problem.value} />}
      <IssuesOf error={problem.value}>
        {children}
        <p class="actions">
          <button type="submit" class="primary" disabled={isSending.value || isIncomplete}>
            {submit}
          </button>
          {actions}
        </p>
      </IssuesOf>
    </PlainForm>
  );
}
