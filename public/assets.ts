export const files: Record<string, string> = {}
