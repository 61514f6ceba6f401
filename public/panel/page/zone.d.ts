export function localMinute(ms: number, timeZone: string | undefined): string
export function instantOf(local: string, timeZone: string | undefined): number
