/** The members of a question whose effects a test does not look at. */
export const noEffects = { effects: [], effectCount: 0, binding: [], round: 1 };
