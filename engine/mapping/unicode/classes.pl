# Writes the table in src/analysis/tokenizer/classes.rs: the class of each code point as Lucene 9's
# standard tokenizer sees it (Unicode 12.1; extended pictographs also where unassigned), and
# whether it is a letter to java.lang.Character. Run with Perl 5.36: perl classes.pl
use strict;
use warnings;

sub class {
    my ($cp, $ch) = @_;
    # What Unicode 13 and 14 changed of older characters, taken back.
    return '' if $cp >= 0x2E5 && $cp <= 0x2EB || $cp >= 0xA708 && $cp <= 0xA716;
    return '' if $cp == 0x55A || $cp == 0x55F || $cp == 0x58A || $cp == 0x16FE2;
    return 'Pictograph' if $cp >= 0x1FB00 && $cp <= 0x1FBFF;
    return 'Pictograph' if $ch =~ /\p{ExtPict}/ && $ch !~ /\p{Present_In=12.1}/;
    return '' if $ch !~ /\p{Present_In=12.1}/;
    return 'TextStyle' if $cp == 0xFE0E;
    return 'EmojiStyle' if $cp == 0xFE0F;
    return 'Keycap' if $cp == 0x20E3;
    return 'Joiner' if $ch =~ /\p{WB=ZWJ}/;
    return 'Regional' if $ch =~ /\p{WB=RI}/;
    return 'Modifier' if $ch =~ /\p{Emoji_Modifier}/;
    if ($ch =~ /\p{WB=ALetter}/) {
        return 'LetterPictograph' if $ch =~ /\p{Emoji}/;
        return $ch =~ /\p{sc=Hang}/ ? 'Hangul' : 'Letter';
    }
    return $ch =~ /\p{LB=SA}/ ? 'ComplexExtend' : 'Extend' if $ch =~ /\p{WB=Extend}|\p{WB=Format}/;
    return 'Digit' if $ch =~ /\p{WB=NU}/;
    return 'Pictograph' if $ch =~ /\p{ExtPict}/ || ($ch =~ /\p{Emoji}/ && $cp > 0x7F);
    my %word = (HL => 'Hebrew', KA => 'Katakana', ML => 'MidLetter', MB => 'MidBoth',
        MN => 'MidDigit', SQ => 'Quote', DQ => 'DoubleQuote', EX => 'Underscore');
    for my $wb (sort keys %word) {
        return $word{$wb} if $ch =~ /\p{WB=$wb}/;
    }
    return 'Complex' if $ch =~ /\p{LB=SA}/;
    return 'Han' if $ch =~ /\p{sc=Han}/;
    return 'Hiragana' if $ch =~ /\p{sc=Hira}/;
    return '';
}

my @ranges;
for my $cp (0x80 .. 0x10FFFF) {
    next if $cp >= 0xD800 && $cp <= 0xDFFF;
    my $ch = chr $cp;
    my $is = (class($cp, $ch) || 'Other') . ($ch =~ /\p{L}/ ? ' | LETTER' : '');
    next if $is eq 'Other';
    if (@ranges && $ranges[-1][1] == $cp - 1 && $ranges[-1][2] eq $is) {
        $ranges[-1][1] = $cp;
    } else {
        push @ranges, [$cp, $cp, $is];
    }
}
my %const = ('Letter | LETTER' => 'L', 'Letter' => 'A', 'Extend' => 'X', 'Digit' => 'D',
    'Pictograph' => 'P', 'Hangul | LETTER' => 'HANGUL', 'Han | LETTER' => 'HAN',
    'Complex | LETTER' => 'SA', 'Other | LETTER' => 'O', 'Han' => 'HAN_CHARACTER');
my $line = '   ';
for (@ranges) {
    my $name = $const{$_->[2]};
    if (!$name) {
        $name = $_->[2] =~ s/([a-z])(?=[A-Z])/$1_/gr;
        $name =~ tr/a-z/A-Z/;
    }
    my $item = sprintf ' (0x%X, 0x%X, %s),', $_->[0], $_->[1], $name;
    if (length($line) + length($item) > 99) { print "$line\n"; $line = '   '; }
    $line .= $item;
}
print "$line\n";
