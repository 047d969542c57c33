import { textHash } from "./text_hash.ts";

/*
 * The words of the other vocabulary. A status, type or method of the simulator is one to four English words in snake_case;
 * each of them has a German or a Portuguese one here, and the whole gets another case. Both ways are arithmetic: a value that
 * was told is understood without a memory of it.
 */

const DICTIONARY = `
accepted angenommen, account Konto, accounts Konten, acknowledged bestätigt, acknowledgement Eingangsbestätigung,
action Aktion, actioned bearbeitet, active ativo, agreed vereinbart, all alle, amount Betrag, approval Freigabe,
approve freigeben, approved Aprovado, archived archiviert, asset Aktivum, attached angehängt, attachment Anhang, auto selbsttätig,
automation Automatik, awaiting wartend, awarded vergeben, backorder Rückstand, basis Grundlage, bill Faktura, blanket Rahmen,
blocked gesperrt, body Rumpf, both beides, box Kiste, buyer Einkäufer, cancelled storniert, captured genutzt,
cargo Fracht, carrier Spediteur, category Kategorie, certificate Zeugnis, change Änderung, claim Reklamation, clear unbedenklich,
closed Encerrado, columns Spalten, commodity Rohstoff, communication Nachricht, completed concluído, compliance Richtlinie,
confidence Vertrauen, confirm bestätigen, confirmation Auftragsbestätigung, confirmed confirmado, consolidation Bündelung,
contact Kontakt, contract Vertrag, conversation Gespräch, cost Kosten, created angelegt, credit Credit, critical kritisch, currency Währung,
date Datum, decimal Dezimal, delay Verzug, delivered ENTREGUE, delivery Lieferung, denied abgelehnt, departed abgefahren,
department Abteilung, description Beschreibung, detention Standgeld, digest Überblick, discount Skonto, discrepancy Abweichung,
dismissed verworfen, dispatch Versand, document Dokument, draft Entwurf, drawing Zeichnung, dual zwei, due fällig,
duplicate doppelt, early früh, email Correio, error Fehler, event Ereignis, exact genau, exceeded überschritten, executed ausgeführt,
expected erwartet, expense Aufwand, expired abgelaufen, expiring auslaufend, extraction Auslese, fact Fakt, failed fehlgeschlagen,
field Feld, file Datei, files Dateien, finding Befund, findings Befunde, flag Kennzeichen, flat pauschal, form Formular, freight Frete,
fresh frisch, fuel Treibstoff, fulfillment Erfüllung, goods Ware, growth Wachstum, header Kopf, high hoch, hold angehalten, id Kennung,
identified erkannt, import Einfuhr, in em, insurance Versicherung, invoice Rechnung, invoiced berechnet, invoices Rechnungen,
issue Vorgang, item Artikel, items Teile, kept behalten, kind Sorte, label Etikett, late verspätet, later später, lead Vorlauf, liability Haftung,
line Zeile, lines Zeilen, link Verknüpfung, logistics Logística, loss Verlust, low niedrig, mail Postsendung, manual von-Hand,
match Treffer, matched ABGEGLICHEN, matching Abgleich, medium mittel, memo Note, mentioned erwähnt, merged vereinigt,
message Mitteilung, met erreicht, min mindest, mismatch Unstimmigkeit, missed versäumt, missing fehlend, model Modell, month Monat, multi mehrfach,
name Bezeichnung, new neu, no ohne, none keine, normal üblich, note Notiz, notes Notizen, notify benachrichtigen, number Nummer, observed beobachtet,
ok gut, open offen, opened eröffnet, order Auftrag, orders Aufträge, outbound abgehend, outcome Ergebnis, outlier Ausreißer, over über,
overbilling Überberechnung, overdue überfällig, packing Verpackung, paid PAGO, pallet Palette, paragraph Absatz, parcel Paket, part Teil,
partial TEILWEISE, past verstrichen, paused pausiert, payable zahlbar, payment Pagamento, pending ausstehend, percent Prozent,
po BE, policy Regelwerk, poll Abfrage, price Preis, priority Vorrang, processed verarbeitet, processing laufend, project Projekt, promise Zusage, promised zugesagt,
purchase Kauf, purchasing Beschaffung, quality Qualität, quantity Menge, question Frage, queued eingereiht, quote Angebot,
rate Tarif, reason Grund, receipt Wareneingang, receipts Eingänge, received eingegangen, reconciliation Abstimmung, recovered zurückgeholt,
reduces mindert, reference Bezug, refuse ablehnen, rejected RECUSADO, release Abruf, request Anfrage, requested gewünscht, resolve lösen, resolved gelöst,
responded beantwortet, review Prüfung, row Reihe, rows Reihen, rule Regel, running läuft, savings Einsparung, scheduled geplant, scope Umfang, score Punkte, sea Seeweg, send senden, sender Absender,
sensor Fühler, sequence Folge, service Dienst, settled ausgeglichen, share Anteil, sheets Blätter, ship versenden, shipped versandt, short knapp, shortage Fehlmenge,
signature Unterschrift, single einzeln, situation Lage, skipped übersprungen, snooze zurückstellen, snoozed zurückgestellt, sole allein,
source Quelle, sourcing Bezugsart, spend Ausgaben, stage Stufe, stale veraltet, standard Regelfall, state Zustand, stated genannt, statement Aussage, status Stand, step Schritt, string Zeichenkette,
suggest vorschlagen, suggested vorgeschlagen, sum Summe, summary Zusammenfassung, supply Versorgung, surcharge Zuschlag, system Anlage, table Tabelle, tail Rest, tax Steuer,
technical técnico, total Gesamt, tracking Sendung, transit trânsito, trend Verlauf, type Typ, unclassified uneingeordnet, unconfirmed unbestätigt, unit Einheit,
unmatched unabgeglichen, unpaid unbezahlt, unreadable unlesbar, unverified ungeprüft, update Aktualisierung, upload Hochladen, urgent dringend,
user Nutzer, valid gültig, value Wert, variance Streuung, vendor Fornecedor, vendors Fornecedores, verified verificado, wait warten, waiting abwartend,
week Woche, weekly wöchentlich, workbook Arbeitsmappe, workflow Ablauf, you Sie`;

const SAID = new Map(DICTIONARY.split(",").map(pair => pair.trim().split(" ") as [string, string]));
const UNDERSTOOD = new Map([...SAID].map(([plain, other]) => [other.toLowerCase(), plain]));

/** Values that the documents themselves name for a request, and the one that a documented path has in it. */
const DOCUMENTED: ReadonlySet<string> = new Set([
  ...["billing", "contracts", "payments", "receiving", "documents"],
  ...["inbound", "flagged", "vendor_marketing", "auto_reply", "system_notification", "agent"],
]);

const WORD = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

type Form = (words: readonly string[]) => string;

const upper = (word: string): string => word.toUpperCase();
const title = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** "TEILWEISE GELIEFERT", "Teilweise geliefert", "teilweise–geliefert", "Teilweise/Geliefert". */
const FORMS: readonly [Form, ...Form[]] = [
  words => words.map(upper).join(" "),
  ([first = "", ...rest]) => [title(first), ...rest].join(" "),
  words => words.map(word => word.toLowerCase()).join("–"),
  words => words.map(title).join("/"),
];

/** What the other vocabulary says for a word; any other text is said as it is. */
export function wordSaid(text: string): string {
  if (text.length < 2 || text.length > 40 || !WORD.test(text) || DOCUMENTED.has(text)) return text;
  const form = FORMS[textHash(text) % FORMS.length] ?? FORMS[0];
  return form(text.split("_").map(word => SAID.get(word) ?? word));
}

/** The word behind what `wordSaid` said; any other text is itself. */
export function wordUnderstood(text: string): string {
  const words = text.toLowerCase().split(/[ –/]/);
  const plain = words.map(word => UNDERSTOOD.get(word) ?? word).join("_");
  return plain !== text && wordSaid(plain) === text ? plain : text;
}
