/**
 * Binds fields to the members of a draft: the path of a field, its value, and the change that it makes. An empty field leaves its member out, and
 * so does a choice that is the default.
 */
import { withMembers } from '../../api/document.ts';

type MemberOf<Draft, Value> = { [Name in keyof Draft]-?: NonNullable<Draft[Name]> extends Value ? Name : never }[keyof Draft] & string;
type Choices = readonly (readonly [value: string, label: string])[];

/** `at`: where the members are in the document, such as `limits.`. */
export function membersOf<Draft extends object>(draft: Draft, edit: (next: Draft) => void, at = '') {
  const set = (name: string, value: unknown): void => edit(withMembers(draft, { [name]: value } as Partial<Draft>));
  const bound = <Value>(name: keyof Draft & string, empty: Value, read: (typed: Value) => unknown) => ({
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
