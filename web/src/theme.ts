// Light or dark: as the system says, unless somebody chose.
export type Theme = "light" | "dark";
const key = "sonde-theme";

const chosen = (): Theme | null => {
  const value = localStorage.getItem(key);
  return value === "light" || value === "dark" ? value : null;
};
export const theme = (): Theme => chosen() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme();
  dispatchEvent(new Event("themechange"));
}
export function otherTheme(): void {
  localStorage.setItem(key, theme() === "dark" ? "light" : "dark");
  applyTheme();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
