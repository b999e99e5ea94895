//! `json!`: a tree written as JSON in the source.

/// Makes a [`Value`](crate::Value): `json!({"a": [1, true, null], "b": expression})`.
///
/// An expression is anything that converts into a value; one that holds commas outside brackets
/// stands in parentheses.
#[macro_export]
macro_rules! json {
    (null) => { $crate::Value::Null };
    ([ $($rest:tt)* ]) => {{
        #[allow(unused_mut, reason = "an empty array")]
        let mut array = $crate::no_elements();
        $crate::json_elements!(array; $($rest)*);
        $crate::Value::Array(array)
    }};
    ({ $($rest:tt)* }) => {{
        #[allow(unused_mut, reason = "an empty object")]
        let mut object = $crate::Object::new();
        $crate::json_members!(object; $($rest)*);
        $crate::Value::Object(object)
    }};
    ($value:expr) => { $crate::Value::from($value) };
}

/// Elements of an array of [`json!`].
#[doc(hidden)]
#[macro_export]
macro_rules! json_elements {
    ($array:ident;) => {};
    ($array:ident; null $(, $($rest:tt)*)?) => {
        $array.push($crate::Value::Null);
        $($crate::json_elements!($array; $($rest)*);)?
    };
    ($array:ident; [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $array.push($crate::json!([ $($inner)* ]));
        $($crate::json_elements!($array; $($rest)*);)?
    };
    ($array:ident; { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $array.push($crate::json!({ $($inner)* }));
        $($crate::json_elements!($array; $($rest)*);)?
    };
    ($array:ident; $value:expr $(, $($rest:tt)*)?) => {
        $array.push($crate::Value::from($value));
        $($crate::json_elements!($array; $($rest)*);)?
    };
}

/// Members of an object of [`json!`].
#[doc(hidden)]
#[macro_export]
macro_rules! json_members {
    ($object:ident;) => {};
    ($object:ident; $key:tt : null $(, $($rest:tt)*)?) => {
        $object.insert($key, $crate::Value::Null);
        $($crate::json_members!($object; $($rest)*);)?
    };
    ($object:ident; $key:tt : [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $object.insert($key, $crate::json!([ $($inner)* ]));
        $($crate::json_members!($object; $($rest)*);)?
    };
    ($object:ident; $key:tt : { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $object.insert($key, $crate::json!({ $($inner)* }));
        $($crate::json_members!($object; $($rest)*);)?
    };
    ($object:ident; $key:tt : $value:expr $(, $($rest:tt)*)?) => {
        $object.insert($key, $crate::Value::from($value));
        $($crate::json_members!($object; $($rest)*);)?
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_tree_reads_as_it_is_written() {
        let name = "x".to_owned();
        let value = json!({"a": [1, -2, true, null, {"b": []}], "c": name, "d": {}, "e": 1.5,});
        assert_eq!(
            crate::to_string(&value),
            r#"{"a":[1,-2,true,null,{"b":[]}],"c":"x","d":{},"e":1.5}"#
        );
    }
}
