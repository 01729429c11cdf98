// @ts-check
/** The colour scheme: light, dark, or the system's. */

const THEME_NAME = 'console-theme';

/** @typedef {'system' | 'light' | 'dark'} Theme */

/** @returns {Theme} */
export function theme() {
  const kept = localStorage.getItem(THEME_NAME);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

/** @param {Theme} value */
export function setTheme(value) {
  localStorage.setItem(THEME_NAME, value);
  applyTheme();
}

/** Puts the theme on the page. */
export function applyTheme() {
  const value = theme();
  if (value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
}
