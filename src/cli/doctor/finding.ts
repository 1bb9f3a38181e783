/** What a check of `moniker doctor` finds. */

/** `advice`: what to do, for every status but `ok`. `subject`: the document; findings that differ in names only are shown together. */
export type DoctorFinding = { check: string; status: 'ok' | 'warning' | 'failure'; message: string; advice?: string; subject?: string };

export function passed(check: string, message: string): DoctorFinding {
  return { check, status: 'ok', message };
}

export function warning(check: string, message: string, advice: string): DoctorFinding {
  return { check, status: 'warning', message, advice };
}

export function failure(check: string, message: string, advice: string): DoctorFinding {
  return { check, status: 'failure', message, advice };
}

/** A refusal of a start: what is wrong in its first sentence, what to do in the others. */
export function refusal(check: string, text: string): DoctorFinding {
  const [what = '', ...advice] = text.split(/\n|(?<=\.) (?=[A-Z`])/);
  return failure(check, what, advice.join(' '));
}
