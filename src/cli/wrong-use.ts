// The command line was not understood: exit status 2.

export class WrongUse extends Error {}
