/** The fields of the members of a draft, such as `field.word('agent', 'Agent', { hint })`: each with its label, bound by `membersOf`. */
import { CheckField, ChoiceField, CodeField, NamesField, NumberField, SecretField, TextField } from './fields.tsx';
import { withMembers } from '../../api/document.ts';

/** Further attributes of a field, which take precedence. */
type More<Field extends (props: never) => unknown> = Partial<Parameters<Field>[0]>;

/** `at`: as of `membersOf`. */
export function memberFields<Draft extends object>(draft: Draft, edit: (next: Draft) => void, at = '') {
  const members = membersOf(draft, edit, at);
  const textField =
    (kind: 'text' | 'required' | 'word' | 'requiredWord') =>
    (name: MemberOf<Draft, string>, label: string, more: More<typeof TextField> = {}) => (
      <TextField key={name} label={label} {...members[kind](name)} {...more} />
    );
  return {
    text: textField('text'),
    required: textField('required'),
    word: textField('word'),
    requiredWord: textField('requiredWord'),
    /** JavaScript. */
    code: (name: MemberOf<Draft, string>, label: string, more: { rows: number; hint: string }) => (
      <CodeField key={name} label={label} {...members.required(name)} {...more} />
    ),
    /** A value that the service does not return. */
    secret: (name: MemberOf<Draft, string>, label: string, more: More<typeof TextField> = {}) => (
      <SecretField key={name} label={label} {...members.text(name)} {...more} />
    ),
    names: (name: MemberOf<Draft, readonly string[]>, label: string, more: More<typeof NamesField> = {}) => (
      <NamesField key={name} label={label} {...members.names(name)} {...more} />
    ),
    number: (name: MemberOf<Draft, number>, label: string, more: More<typeof NumberField> = {}) => (
      <NumberField key={name} label={label} {...members.number(name)} {...more} />
    ),
    check: (name: MemberOf<Draft, boolean>, label: string, more: More<typeof CheckField> = {}) => (
      <CheckField key={name} label={label} {...members.check(name)} {...more} />
    ),
    /** The first choice is the default. */
    choice: (name: MemberOf<Draft, string>, label: string, choices: Choices, more: More<typeof ChoiceField<string>> = {}) => (
      <ChoiceField key={name} label={label} {...members.choice(name, choices)} {...more} />
    ),
  };
}

type MemberOf<Draft, Value> = { [Name in keyof Draft]-?: NonNullable<Draft[Name]> extends Value ? Name : never }[keyof Draft] & string;
type Choices = readonly (readonly [value: string, label: string])[];

/**
 * Binds fields to members: path, value and change. An empty field leaves its member out, and so does a choice that is the default. `at`: where the
 * members are in the document, such as `limits.`.
 */
export function membersOf<Draft extends object>(draft: Draft, edit: (next: Draft) => void, at = '') {
  const set = (name: string, value: unknown): void => edit(withMembers(draft, { [name]: value } as Partial<Draft>));
  const bound = <Value,>(name: keyof Draft & string, empty: Value, read: (typed: Value) => unknown) => ({
    path: at + name,
    // `MemberOf` has checked the type of the member.
    value: (draft[name] ?? empty) as Value,
    onInput: (typed: Value) => set(name, read(typed)),
  });
  return {
    text: (name: MemberOf<Draft, string>) => bound(name, '', (typed) => typed || undefined),
    /** A member that is never left out. */
    required: (name: MemberOf<Draft, string>) => bound(name, '', (typed) => typed),
    /** Without spaces around it: a name, an address, a time. */
    word: (name: MemberOf<Draft, string>) => bound(name, '', (typed) => typed.trim() || undefined),
    requiredWord: (name: MemberOf<Draft, string>) => bound(name, '', (typed) => typed.trim()),
    names: (name: MemberOf<Draft, readonly string[]>) =>
      bound<readonly string[]>(name, [], (typed) => (typed.length > 0 ? typed : undefined)),
    number: (name: MemberOf<Draft, number>) => bound<number | undefined>(name, undefined, (typed) => typed),
    check: (name: MemberOf<Draft, boolean>) => bound(name, false, (typed) => typed || undefined),
    /** The first choice is the default. */
    choice: (name: MemberOf<Draft, string>, choices: Choices) => {
      const [standard = ''] = choices[0] ?? [];
      return { ...bound(name, standard, (typed) => (typed === standard ? undefined : typed)), choices };
    },
  };
}
